"""Long-term memory: what was said once (claims), and what therefore holds (memories), now or on a past day."""
