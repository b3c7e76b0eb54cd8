import Foundation

/// A directory of mode 0700 that disappears, with what is in it, when the last reference to it goes.
public final class TemporaryDirectory: Sendable {
  public let path: String

  public init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "hpeer-test-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  public var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

  /// The path of `name` within the directory.
  public func path(_ name: String) -> String { path + "/" + name }

  /// The permission bits of `name` within the directory, or of the directory itself.
  public func mode(_ name: String? = nil) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: name.map(path(_:)) ?? path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }
}
