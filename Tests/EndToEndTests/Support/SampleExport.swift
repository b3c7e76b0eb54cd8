import Foundation
import Testing

/// A synthetic export without files beside its XML, and a home into which it was imported. Both are made once for all
/// tests.
struct SampleExport {
  /// An export of about 3,000 records. `smallLater` is the same person's export some weeks later.
  static let small = SampleExport("small", ["--records", "3000"])
  static let smallLater = SampleExport("small-later", ["--records", "3000", "--later"])
  /// An export of five import batches.
  static let medium = SampleExport("medium", ["--records", "10000"])
  /// An export that takes long enough to import to be interrupted.
  static let large = SampleExport("large", ["--records", "40000"])
  /// An export that takes long enough to transfer to be interrupted.
  static let huge = SampleExport("huge", ["--records", "200000"])

  let name: String
  private let arguments: [String]

  /// - Parameter arguments: The arguments for `scripts/sample-export`.
  init(_ name: String, _ arguments: [String]) {
    (self.name, self.arguments) = (name, arguments)
  }

  /// The path of the zip file.
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

  /// A home into which only this export was imported. Copy it before use.
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
