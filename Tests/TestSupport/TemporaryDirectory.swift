import Foundation

/// A directory of mode 0700 that is removed, with its contents, when the last reference to it is released.
public final class TemporaryDirectory: Sendable {
  public let path: String

  /// - Parameter inMemory: Whether to use an in-memory file system if the machine has one, for tests that open
  /// thousands of files and don't test disks.
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

  /// Returns the path of `name` within the directory.
  public func path(_ name: String) -> String { path + "/" + name }

  /// Returns the permission bits of `name` within the directory, or of the directory itself.
  public func mode(_ name: String? = nil) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: name.map(path(_:)) ?? path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }
}
