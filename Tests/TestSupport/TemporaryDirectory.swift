import Foundation

/// A directory of mode 0700 that disappears, with what is in it, when the last reference to it goes.
public final class TemporaryDirectory: Sendable {
  public let path: String

  /// - Parameter inMemory: where the machine has a file system in memory: for tests that open thousands of files and prove
  ///   nothing about disks.
  public init(inMemory: Bool = false) throws {
    let memory = "/dev/shm"
    let parent =
      inMemory && FileManager.default.isWritableFile(atPath: memory)
      ? URL(filePath: memory, directoryHint: .isDirectory) : FileManager.default.temporaryDirectory
    path = parent.appending(path: "hpeer-test-\(UUID().uuidString)").path
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
