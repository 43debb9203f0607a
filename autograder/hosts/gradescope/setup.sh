#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the autograder's image.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
environment=${KATZE_ENVIRONMENT:-/opt/katze}

chmod -R go= "$here"  # only the grader may read the answers and the secret

# Find the Python version that this archive was made with, or else another that is new enough.
find_python() {
    local name
    for name in "$(cat "$here/python")" python3.13 python3.12 python3.11 python3; do
        if "$name" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    return 1
}

if ! python=$(find_python); then
    apt-get update
    for version in 3.12 3.11; do
        if apt-get install --yes --no-install-recommends "python$version" "python$version-venv"; then
            break
        fi
    done
    python=$(find_python) || { echo "there is no Python 3.11 or newer here: choose a newer base image" >&2; exit 1; }
fi

"$python" -m venv "$environment"
# Install torch without CUDA, which would add gigabytes.
"$environment/bin/pip" install --quiet --no-cache-dir \
    --extra-index-url https://download.pytorch.org/whl/cpu --requirement "$here/requirements.txt"
