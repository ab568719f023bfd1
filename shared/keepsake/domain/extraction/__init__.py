"""Extraction by rules: what a user's own words state, found without a model."""
