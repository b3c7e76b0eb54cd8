// swift-tools-version: 6.1

import PackageDescription

let package = Package(
  name: "hpeer",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "hpeer", targets: ["hpeer"]),
    .library(name: "AgeEncryption", targets: ["AgeEncryption"]),
    .library(name: "BackupArchive", targets: ["BackupArchive"]),
    .library(name: "ExternalStores", targets: ["ExternalStores"]),
    .library(name: "Destinations", targets: ["Destinations"]),
    .library(name: "HealthAnalysis", targets: ["HealthAnalysis"]),
    .library(name: "HealthModel", targets: ["HealthModel"]),
    .library(name: "HealthStore", targets: ["HealthStore"]),
    .library(name: "HealthFormats", targets: ["HealthFormats"]),
    .library(name: "HealthOperations", targets: ["HealthOperations"]),
    .library(name: "PeerClient", targets: ["PeerClient"]),
    .library(name: "PeerDiscovery", targets: ["PeerDiscovery"]),
    .library(name: "PeerProtocol", targets: ["PeerProtocol"]),
    .library(name: "PeerServer", targets: ["PeerServer"]),
    .library(name: "PeerTrust", targets: ["PeerTrust"]),
    .library(name: "Terminal", targets: ["Terminal"]),
    // For Tests/Fuzz, which is a package of its own.
    .library(name: "FuzzTargets", targets: ["FuzzTargets"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // MARK: The machine

    // Not `System`: NIO's file system imports a module of that name where there is one, and means Apple's.
    .target(name: "OperatingSystem", dependencies: ["CLinux"]),
    .target(name: "ZstandardFrames", dependencies: ["CZstd"]),

    .target(name: "Cryptography", dependencies: ["COpenSSL"]),

    // MARK: The record

    .target(
      name: "HealthModel",
      dependencies: ["Cryptography"],
      resources: [
        .embedInCode("Resources/category_values.tsv"),
        .embedInCode("Resources/sample_types.tsv"),
        .embedInCode("Resources/workout_activity_types.tsv"),
      ]),
    .target(name: "HealthAppTransfer", dependencies: ["HealthModel"]),
    .target(
      name: "SQLiteFiles",
      dependencies: [
        "OperatingSystem", .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    .target(
      name: "HealthStore",
      dependencies: [
        "Cryptography", "HealthModel", "OperatingSystem", "SQLiteFiles",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]),
    .target(
      name: "HealthAnalysis",
      dependencies: [
        "HealthModel", "HealthStore", "OperatingSystem", "SQLiteFiles",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "HeapModule", package: "swift-collections"),
      ]),
    .target(
      name: "HealthFormats",
      dependencies: [
        "Cryptography", "HealthAppTransfer", "HealthModel", "ZstandardFrames", "CISAL", "CZip",
      ],
      resources: [.embedInCode("Resources/fhir_map.tsv")]),

    // MARK: Peers

    .target(
      name: "PeerProtocol",
      dependencies: [
        "Cryptography", "HealthAppTransfer", "HealthModel", "ZstandardFrames",
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ],
      exclude: ["Columns/changes.proto"]),
    .target(
      name: "PeerTrust",
      dependencies: [
        "Cryptography", "HealthModel", "OperatingSystem", "PeerProtocol", "SQLiteFiles",
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .target(name: "PeerDiscovery", dependencies: ["CAvahi"]),
    // What it needs of the system is loaded when it is used.
    .target(name: "QRPictures", dependencies: ["OperatingSystem"]),
    .target(
      name: "PeerServer",
      dependencies: [
        "HealthAnalysis", "HealthAppTransfer", "HealthModel", "HealthStore", "OperatingSystem", "PeerProtocol",
        "PeerTrust",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      resources: [.embedInCode("Resources/openapi.yaml")]),
    .target(
      name: "PeerClient",
      dependencies: [
        "HealthAppTransfer", "HealthModel", "HealthStore", "OperatingSystem", "PeerDiscovery", "PeerProtocol",
        "PeerTrust",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ]),

    // MARK: Backups

    .target(name: "AgeEncryption", dependencies: ["Cryptography"]),
    .target(
      name: "BackupArchive",
      dependencies: [
        "AgeEncryption", "Cryptography", "OperatingSystem", "ZstandardFrames",
      ]),

    // MARK: What hpeer does

    .target(
      name: "Destinations",
      dependencies: [
        "Cryptography", "HealthAnalysis", "HealthAppTransfer", "HealthFormats", "HealthModel", "HealthStore",
        "OperatingSystem", "CMosquitto",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "TOMLKit", package: "TOMLKit"),
      ]),
    .target(
      name: "HealthOperations",
      dependencies: [
        "AgeEncryption", "BackupArchive", "Destinations", "HealthAnalysis", "HealthModel", "HealthStore",
        "HealthFormats", "OperatingSystem",
        "PeerProtocol", "PeerTrust", "PeerDiscovery", "PeerServer", "PeerClient", "SQLiteFiles",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),

    // MARK: For other programs

    .target(name: "ExternalStores", dependencies: ["HealthModel", "HealthStore", "OperatingSystem"]),
    // The sources of a package of its own, built here so that they always compile.
    .executableTarget(
      name: "text-file-store", dependencies: ["ExternalStores", "HealthModel", "HealthStore"],
      path: "Examples/TextFileStore/Sources/TextFileStore"),

    // MARK: The command line

    .target(
      name: "Diagnosis",
      dependencies: [
        "HealthModel", "HealthStore", "OperatingSystem", "PeerClient", "PeerDiscovery", "PeerProtocol", "PeerTrust",
      ]),
    .target(name: "Terminal", dependencies: ["OperatingSystem", "CQREncode"]),
    .executableTarget(
      name: "hpeer",
      dependencies: [
        "AgeEncryption", "BackupArchive", "Destinations", "HealthAnalysis", "HealthModel", "HealthStore",
        "HealthFormats", "HealthOperations",
        "OperatingSystem", "PeerProtocol", "PeerTrust", "PeerDiscovery", "PeerServer", "PeerClient", "QRPictures",
        "Diagnosis", "Terminal",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),

    // MARK: Measurements

    .target(
      name: "BenchData", dependencies: ["HealthFormats", "HealthModel", "TestSupport", "CZip"],
      path: "Benchmarks/BenchData"),
    .executableTarget(
      name: "hpeer-bench",
      dependencies: [
        "BenchData", "HealthAnalysis", "HealthModel", "HealthStore", "OperatingSystem", "PeerClient", "PeerProtocol",
        "PeerTrust", "PhoneApps",
        "Terminal",
        "TestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      path: "Benchmarks/hpeer-bench"),

    // MARK: System libraries

    // No pkgConfig: avahi-client.pc asks for -D_REENTRANT, which SwiftPM prohibits, and the module map links the libraries.
    .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
    .systemLibrary(name: "CISAL", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
    .systemLibrary(
      name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CZip", pkgConfig: "libzip", providers: [.apt(["libzip-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),

    // MARK: Tests

    .testTarget(
      name: "HealthAnalysisTests",
      dependencies: [
        "HealthAnalysis", "HealthModel", "HealthStore", "TestSupport", .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .testTarget(name: "CryptographyTests", dependencies: ["Cryptography"]),
    .testTarget(name: "HealthModelTests", dependencies: ["HealthModel", "TestSupport"]),
    .testTarget(name: "BenchDataTests", dependencies: ["BenchData", "TestSupport"]),
    .testTarget(
      name: "HealthStoreTests",
      dependencies: ["HealthStore", "HealthFormats", "OperatingSystem", "PeerProtocol", "TestSupport"],
      exclude: ["Core/Fixtures"]),
    .testTarget(
      name: "HealthFormatsTests",
      dependencies: ["HealthAppTransfer", "HealthFormats", "TestSupport", "ZstandardFrames"],
      exclude: ["Fitbit/Fixtures"]),
    .testTarget(
      name: "PeerProtocolTests",
      dependencies: [
        "Cryptography", "HealthAppTransfer", "PeerProtocol", "TestSupport", "ZstandardFrames",
      ]),
    .testTarget(
      name: "DestinationsTests",
      dependencies: [
        "Cryptography", "Destinations", "HealthAnalysis", "HealthFormats", "HealthModel", "HealthOperations",
        "HealthStore", "OperatingSystem", "TestSupport",
      ]),
    .testTarget(
      name: "ExternalStoresTests", dependencies: ["ExternalStores", "HealthModel", "HealthStore", "TestSupport"]),
    .testTarget(name: "OperatingSystemTests", dependencies: ["CLinux", "OperatingSystem", "TestSupport"]),
    .testTarget(
      name: "SQLiteFilesTests",
      dependencies: ["SQLiteFiles", "TestSupport", .product(name: "GRDB", package: "GRDB.swift")]),
    .testTarget(name: "PeerTrustTests", dependencies: ["Cryptography", "PeerTrust", "TestSupport"]),
    .testTarget(
      name: "AgeEncryptionTests",
      dependencies: ["AgeEncryption", "Cryptography", "TestSupport"]),
    .testTarget(
      name: "BackupArchiveTests", dependencies: ["AgeEncryption", "BackupArchive", "TestSupport", "ZstandardFrames"]),
    .testTarget(name: "PeerDiscoveryTests", dependencies: ["PeerDiscovery"]),
    .testTarget(
      name: "PeerTests",
      dependencies: [
        "Cryptography", "PeerServer", "PeerClient", "HostilePeer", "PhoneApps", "TestSupport", "ZstandardFrames",
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ]),
    .testTarget(
      name: "HealthOperationsTests",
      dependencies: [
        "AgeEncryption", "BackupArchive", "Destinations", "HealthAnalysis", "HealthFormats", "HealthModel",
        "HealthOperations", "HealthStore",
        "OperatingSystem", "PeerClient", "PeerProtocol", "PeerServer", "PeerTrust", "PhoneApps", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .testTarget(
      name: "DiagnosisTests",
      dependencies: [
        "Diagnosis", "HealthModel", "HealthStore", "OperatingSystem", "PeerClient", "PeerProtocol", "PeerTrust",
        "PeerDiscovery", "TestSupport",
      ]),
    .testTarget(name: "TerminalTests", dependencies: ["Terminal"]),
    .testTarget(name: "QRPicturesTests", dependencies: ["QRPictures", "Terminal", "TestSupport"]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "BenchData", "HealthModel", "HealthStore", "PeerClient", "PeerProtocol", "PeerServer", "PeerTrust", "Terminal",
        "TestSupport",
      ],
      exclude: ["Faults/Support/faulty_writes.c"]),
    .target(name: "TestSupport", dependencies: ["HealthModel"], path: "Tests/TestSupport"),
    .target(
      name: "PhoneApps",
      dependencies: [
        "COpenSSL", "Cryptography", "HealthModel", "PeerClient", "PeerProtocol", "TestSupport",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      path: "Tests/PhoneApps"),
    .executableTarget(
      name: "phone-stand-in", dependencies: ["PeerDiscovery", "PhoneApps"], path: "Tests/PhoneStandIn"),
    .target(
      name: "HostilePeer",
      dependencies: [
        "HealthModel", "HealthStore", "PeerClient", "PeerDiscovery", "PeerProtocol", "PeerTrust", "TestSupport",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      path: "Tests/HostilePeer"),
    .target(
      name: "FuzzTargets",
      dependencies: [
        "AgeEncryption", "BackupArchive", "CExpat", "Cryptography", "Destinations", "HealthAnalysis", "HealthFormats",
        "HealthModel", "HostilePeer", "PeerClient", "PeerDiscovery", "PeerProtocol", "PeerTrust",
        "QRPictures", "Terminal",
      ],
      path: "Tests/FuzzTargets"),
    .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "OperatingSystem", "TestSupport"]),
    .systemLibrary(name: "CExpat", path: "Tests/CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
  ],
  swiftLanguageModes: [.v6]
)

// Tests see what is internal in our own modules: scripts/build asks for it. In what other packages have written, it would only
// keep the compiler from leaving out what is not used. To optimize tests would take longer than it saves.
for target in package.targets {
  switch target.type {
  case .test: target.swiftSettings = [.unsafeFlags(["-Onone"])]
  case .regular where Context.environment["HPEER_BUILD"] == "testable":
    target.swiftSettings = [.unsafeFlags(["-enable-testing"])]
  default: break
  }
}
