#!/bin/sh
# Removes from an image what sandboxed code does not need: setuid bits, package managers and their data, documentation.
set -eu
root=${1:-/}
find "$root" -xdev -type f -perm /6000 -exec chmod a-s {} +
rm -rf "$root"/var/lib/apt "$root"/var/cache/* "$root"/var/log/* "$root"/usr/share/doc "$root"/usr/share/man "$root"/usr/share/info \
  "$root"/usr/share/locale "$root"/usr/bin/apt* "$root"/usr/lib/apt "$root"/usr/bin/dpkg* "$root"/usr/sbin/dpkg* "$root"/usr/lib/dpkg \
  "$root"/usr/bin/su "$root"/usr/bin/passwd "$root"/usr/bin/chsh "$root"/usr/bin/chfn "$root"/usr/bin/gpasswd "$root"/usr/bin/newgrp
