#!/usr/bin/env bash
# Re-pins every requirements file, with hashes and without any address. Needs `uv` on the path.
set -euo pipefail
cd "$(dirname "$0")"
pin() { uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate "$@"; }
pin layer.in -o ../shared/requirements.txt
pin local.in -c ../shared/requirements.txt -o local.txt
pin embedding.in --no-deps -c local.txt -o embedding.txt
pin dev.in -c local.txt -c embedding.txt -o dev.txt
pin sam.in -o sam.txt
