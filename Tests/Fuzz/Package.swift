// swift-tools-version: 6.1

import PackageDescription

// A package of its own, so that a build of hpeer never holds fuzz targets. `scripts/fuzz` builds and runs it.
let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "hpeer", path: "../.."),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
  ],
  targets: [
    // One executable for all targets: `HPEER_FUZZ_TARGET` chooses.
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "CExpat",
        .product(name: "AgeEncryption", package: "hpeer"),
        .product(name: "BackupArchive", package: "hpeer"),
        .product(name: "Destinations", package: "hpeer"),
        .product(name: "HealthAnalysis", package: "hpeer"),
        .product(name: "HealthModel", package: "hpeer"),
        .product(name: "HealthFormats", package: "hpeer"),
        .product(name: "PeerClient", package: "hpeer"),
        .product(name: "PeerProtocol", package: "hpeer"),
        .product(name: "PeerTrust", package: "hpeer"),
        .product(name: "PeerDiscovery", package: "hpeer"),
        .product(name: "QRPictures", package: "hpeer"),
        .product(name: "Terminal", package: "hpeer"),
        .product(name: "HostilePeer", package: "hpeer"),
        .product(name: "Crypto", package: "swift-crypto"),
      ]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
  ],
  swiftLanguageModes: [.v6]
)
