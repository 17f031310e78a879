#!/usr/bin/env bash
# A base image out of Debian's packages, for hosts that reach no registry of images:
#
#     examples/debian_base.sh DIR [SUITE [PACKAGE,…]]
#     unhack env build tasks/ --base ubuntu:24.04=oci:DIR
#
# It needs root, debootstrap and buildah.
set -euo pipefail
layout=$(realpath -m "$1") suite=${2:-bookworm} packages=${3:-python3,ca-certificates}
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
debootstrap --variant=minbase --include="$packages" "$suite" "$work/root"
rm -rf "$work"/root/var/cache/apt/archives/*.deb "$work"/root/var/lib/apt/lists/*
storage=(--root "$work/storage" --runroot "$work/run")
container=$(buildah "${storage[@]}" from scratch)
tar -C "$work/root" --numeric-owner -cf "$work/root.tar" . # unlike a folder, it keeps its owners
buildah "${storage[@]}" add --quiet "$container" "$work/root.tar" /
buildah "${storage[@]}" config --cmd /bin/bash "$container"
buildah "${storage[@]}" commit --quiet --disable-compression "$container" "oci:$layout:latest"
echo "$layout"
