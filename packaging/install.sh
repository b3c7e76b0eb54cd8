#!/bin/sh
# usage: ./install.sh [--prefix DIR | --user] [--uninstall]
# Installs hpeer on a Linux without a package of it: into /usr/local, into DIR, or with --user into ~/.local of this user,
# who needs no other rights for it. --uninstall takes off what was installed there. No record is ever touched.
set -eu
cd "$(dirname "$0")"

usage() { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
prefix=/usr/local user=no uninstall=no
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -ge 2 ] || usage; prefix=$2; shift ;;
    --user) user=yes; prefix=$HOME/.local ;;
    --uninstall) uninstall=yes ;;
    *) usage ;;
  esac
  shift
done
case $prefix in /*) ;; *) echo "install.sh: --prefix takes an absolute path" >&2; exit 2 ;; esac
list=$prefix/share/hpeer/installed

if [ "$uninstall" = yes ]; then
  [ -r "$list" ] || { echo "install.sh: nothing of hpeer is in $prefix" >&2; exit 1; }
  while IFS= read -r file; do rm -f "$file"; done <"$list"
  rm -f "$list"
  rmdir "$prefix/share/hpeer" 2>/dev/null || true
  echo "hpeer is gone from $prefix. Records and settings are where they were: ~/.local/share/hpeer, ~/.config/hpeer."
  exit
fi

missing=$(LC_ALL=C ldd ./hpeer 2>&1 | sed -n 's/^[[:space:]]*\(lib[^ ]*\) => not found.*/\1/p' | sort -u)
old=$(LC_ALL=C ldd ./hpeer 2>&1 | grep -o "version .GLIBC_[0-9A-Z_.]*' not found" | head -n 1 || true)
[ -z "$old" ] || { echo "install.sh: this system's C library is too old for hpeer: $old" >&2; exit 1; }
if [ -n "$missing" ]; then
  echo "install.sh: hpeer needs libraries that are not here; install the packages that have them:" >&2
  echo "$missing" >&2
  exit 1
fi
[ -e /usr/share/zoneinfo/UTC ] || echo "install.sh: time zones are missing here: install tzdata" >&2

mkdir -p "$prefix/share/hpeer"
: >"$list.new"
put() { # MODE SOURCE TARGET
  mkdir -p "$(dirname "$3")"
  # Another file in its place: one that runs is not written into.
  cp "$2" "$3.new"
  chmod "$1" "$3.new"
  mv -f "$3.new" "$3"
  echo "$3" >>"$list.new"
}
put 755 hpeer "$prefix/bin/hpeer"
for page in share/man/man*/*; do put 644 "$page" "$prefix/$page"; done
put 644 completions/hpeer "$prefix/share/bash-completion/completions/hpeer"
put 644 completions/_hpeer "$prefix/share/zsh/site-functions/_hpeer"
put 644 completions/hpeer.fish "$prefix/share/fish/vendor_completions.d/hpeer.fish"
for file in README.md LICENSE CHANGELOG.md copyright; do put 644 "$file" "$prefix/share/doc/hpeer/$file"; done
if [ "$user" = yes ]; then
  units=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user
  kinds=user
else
  units=$prefix/lib/systemd
  kinds="user system"
fi
for kind in $kinds; do
  [ "$user" = yes ] && folder=$units || folder=$units/$kind
  for unit in systemd/"$kind"/*; do
    sed "s|/usr/bin/hpeer|$prefix/bin/hpeer|g" "$unit" >"$list.unit"
    put 644 "$list.unit" "$folder/$(basename "$unit")"
  done
done
rm -f "$list.unit"
mv "$list.new" "$list"
echo "hpeer $("$prefix/bin/hpeer" --version) is in $prefix/bin. Nothing was started: systemctl --user enable --now hpeer does."
case ":$PATH:" in *":$prefix/bin:"*) ;; *) echo "Put $prefix/bin on your PATH." ;; esac
