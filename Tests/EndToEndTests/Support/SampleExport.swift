import Foundation
import Testing

/// A made-up export without files beside its XML, made once for all tests, and a home that holds it.
struct SampleExport {
  /// About 3,000 records, and the same person's export some weeks later.
  static let small = SampleExport("small", ["--records", "3000"])
  static let smallLater = SampleExport("small-later", ["--records", "3000", "--later"])
  /// Five batches.
  static let medium = SampleExport("medium", ["--records", "10000"])
  /// Takes long enough to import to be interrupted.
  static let large = SampleExport("large", ["--records", "40000"])
  /// Long enough on the wire to be interrupted.
  static let huge = SampleExport("huge", ["--records", "200000"])

  let name: String
  private let arguments: [String]

  /// - Parameter arguments: those of `scripts/sample-export`.
  init(_ name: String, _ arguments: [String]) {
    (self.name, self.arguments) = (name, arguments)
  }

  /// The zip file.
  var path: String {
    get async throws {
      try await Made.once(name + ".zip") { path in
        let outcome = try await RunningCommand(
          [Build.root + "/scripts/sample-export", "--xml-only"] + arguments + [path]
        ).outcome()
        try #require(outcome.status == 0, "\(outcome.errors)")
      }
    }
  }

  /// A home into which nothing but this was imported. To be copied.
  fileprivate var home: String {
    get async throws {
      let export = try await path
      return try await Made.once(name + "-home") { home in
        let outcome = try await RunningCommand([Build.hpeer, "import", "--home", home, export]).outcome()
        try #require(outcome.status == 0, "\(outcome.errors)")
      }
    }
  }
}

extension Host {
  /// Makes this the home of a machine that has imported the export and done nothing else.
  func hold(_ export: SampleExport) async throws {
    try FileManager.default.copyItem(atPath: try await export.home, toPath: home)
  }
}
