// swift-tools-version: 6.1

import PackageDescription

// libFuzzer around the targets of the main package. A package of its own, because it wants all code compiled in another way.
// `scripts/fuzz` builds and runs it.
let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "hpeer", path: "../..")],
  targets: [
    // One executable for all targets: `HPEER_FUZZ_TARGET` chooses.
    .executableTarget(name: "Fuzz", dependencies: [.product(name: "FuzzTargets", package: "hpeer")])
  ],
  swiftLanguageModes: [.v6]
)
