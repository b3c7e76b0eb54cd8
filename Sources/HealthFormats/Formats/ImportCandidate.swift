import Foundation

/// A path that may be a file of samples, looked at just far enough to tell of which format.
public struct ImportCandidate: Sendable {
  /// Where it is read.
  public let path: String
  /// What the person calls it, without its folders.
  let name: String
  /// Of a file; `nil` of a folder, and of what is neither.
  let file: File?

  /// A regular file.
  struct File: Sendable {
    /// Decompressed where the file is compressed.
    var content: FileContent
    var head: FileHead
  }

  /// Blocking.
  ///
  /// - Parameter original: what the person calls it, if it is read in another place.
  /// - Throws: ``ImportError`` where it cannot be read.
  init(path: String, original: String? = nil) throws {
    self.path = path
    name = URL(filePath: original ?? path).lastPathComponent
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      file = nil
      return
    }
    let source = try FileSource(path: path)
    let head = try source.prefix(FileHead.size)
    source.close()
    let compression = FileCompression(head)
    let content = FileContent(path: path, size: Int64(status.st_size), compression: compression)
    file = File(content: content, head: FileHead(compression == nil ? head : try content.head()))
  }

  /// What is in memory, as it is.
  init(bytes: [UInt8]) {
    let content = FileContent(bytes)
    (path, name) = (content.path, content.path)
    file = File(content: content, head: FileHead(Array(bytes.prefix(FileHead.size))))
  }
}

extension FileContent {
  fileprivate func head() throws -> [UInt8] {
    let source = try open()
    defer { source.close() }
    return try source.prefix(FileHead.size)
  }
}
