import Foundation

/// A path that may hold samples, with enough of its content to recognise the format.
public struct ImportCandidate: Sendable {
  /// The path to read.
  public let path: String
  /// The last component of the path that the person gave.
  let name: String
  /// The regular file at the path, or `nil` for a folder or anything else.
  let file: File?

  /// A regular file.
  struct File: Sendable {
    /// The content of the file, decompressed if necessary.
    var content: FileContent
    var head: FileHead
  }

  /// Inspects the file or folder at a path. Blocking.
  ///
  /// - Parameter original: the path that the person gave, if the file is read from another place.
  /// - Throws: ``ImportError`` if the file cannot be read.
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

  /// Creates a candidate from bytes in memory, which are not decompressed.
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
