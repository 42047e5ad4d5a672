#!/usr/bin/env bash
# Builds the sandbox image from Debian packages alone, for machines that cannot pull images: debootstrap, docker import. Requires root (for
# debootstrap) and a Docker daemon. `docker build sandbox` builds the same image from a base image that it pulls.
set -euo pipefail
image=${1:-work-ledger-sandbox}
suite=bookworm
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -v security | head -1)}

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=python3 "$suite" "$root" ${mirror:+"$mirror"} >"$root.log" 2>&1 || { tail -20 "$root.log"; exit 1; }
rm -f "$root.log"
sh "$(dirname "$0")/trimImage.sh" "$root"
tar -C "$root" --numeric-owner -c . | docker import \
  --change 'USER 65534:65534' --change 'WORKDIR /tmp' --change 'ENV PATH=/usr/bin:/bin' --change 'CMD ["python3", "-I"]' \
  - "$image"
