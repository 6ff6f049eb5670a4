#!/usr/bin/env bash
# Builds the wheel for AArch64 on an x86-64 Debian that has rustc-web, and tests it under QEMU. Nothing is
# installed: what Debian and PyPI have for AArch64 is unpacked in a new folder, or in the absolute
# path ROOM, which stays. The last line says where the wheel is. PROFILE=dev builds in less time.
set -euo pipefail
cd "$(dirname "$0")"

target=aarch64-unknown-linux-gnu
wheels=${CARGO_TARGET_DIR:-$PWD/../target}/wheels
room=${ROOM:-$(mktemp -d)}
[[ -n ${ROOM:-} ]] || trap 'rm -rf "$room"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1

# Debian's packages of an architecture, as on a machine that has none yet.
apt() {
    local folder=$room/apt-$1
    mkdir -p "$folder"/{lists,cache/archives}/partial
    : > "$folder/status"
    apt-get -qq -o "APT::Architecture=$1" -o "APT::Architectures=$1" -o "Dir::State::status=$folder/status" \
        -o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o Debug::NoLocking=true \
        -o APT::Sandbox::User= "${@:2}"
}

# The standard library must be of the compiler's own version.
rust=$(dpkg-query --showformat '${Version}' --show rustc-web)
apt arm64 update
apt arm64 install --yes --no-install-recommends --download-only python3 libstdc++6
(cd "$room/apt-arm64/cache/archives" && apt arm64 download "libstd-rust-web-dev=$rust")
apt amd64 update
(cd "$room/apt-amd64/cache/archives" && apt amd64 download qemu-user-static)
for architecture in arm64 amd64; do
    for package in "$room/apt-$architecture"/cache/archives/*.deb; do
        dpkg-deb --extract "$package" "$room/$architecture"
    done
done

python3 -m venv "$room/maturin"
"$room/maturin/bin/pip" install --quiet maturin==1.16.0 ziglang==0.17.1
# Cargo gives these flags to what is built for AArch64 alone.
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS="--sysroot=$room/arm64/usr"
RUSTC=/usr/bin/rustc PATH=$room/maturin/bin:$PATH maturin build --zig --target "$target" \
    --profile "${PROFILE:-release}" --locked --quiet --out "$wheels"

python=$(readlink "$room/arm64/usr/bin/python3")
pip=("$room/maturin/bin/pip" install --quiet --upgrade --target "$room/packages" --implementation cp --abi abi3 --abi none
    --abi "cp${python//[!0-9]/}" --python-version "${python#python}" --only-binary :all:)
for glibc in 17 27 28; do pip+=(--platform "manylinux_2_${glibc}_aarch64"); done
grep -E '^(gmpy2|hypothesis|numpy|pytest)=' tests/requirements.txt > "$room/requirements"
"${pip[@]}" --platform any "$wheels"/bigint_engine-*_aarch64.whl -r "$room/requirements"
# Few examples: QEMU takes its time.
EXAMPLES=3 PYTHONPATH=$room/packages "$room/amd64/usr/bin/qemu-aarch64-static" -L "$room/arm64" \
    "$room/arm64/usr/bin/$python" -m pytest --quiet -p no:cacheprovider tests/test_arithmetic.py
echo "$wheels"/bigint_engine-*_aarch64.whl
