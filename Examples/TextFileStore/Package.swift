// swift-tools-version: 6.1

import PackageDescription

// A program of your own that keeps a store of your own in step with a record: copy this folder, and name hpeer's repository.
let package = Package(
  name: "TextFileStore",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "hpeer", path: "../..")],
  targets: [
    .executableTarget(
      name: "TextFileStore",
      dependencies: [
        .product(name: "ExternalStores", package: "hpeer"),
        .product(name: "HealthModel", package: "hpeer"),
        .product(name: "HealthStore", package: "hpeer"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
