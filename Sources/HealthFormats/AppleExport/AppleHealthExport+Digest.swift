import Cryptography
import Foundation

extension AppleHealthExport {
  /// Returns a SHA-256 digest of every byte that reading the export depends on. Exports with equal digests give the
  /// same samples.
  ///
  /// Covers the whole zip file and, if the zip file holds several exports, the location of this one in it. For an XML
  /// file or a folder, covers the XML and the names, sizes and contents of the files beside it. Includes the version
  /// of this reader, so that a newer reader that understands more reads an old file again. Blocks.
  ///
  /// - Parameter isCancelled: asked now and then; if it returns true, the method throws `CancellationError`.
  public func digest(isCancelled: () -> Bool) throws -> Data {
    var hasher = SHA256()
    hasher.update(data: Data("hpeer reader \(Self.readerVersion)\u{1F}".utf8))
    switch origin {
    case .zip(let path, _), .salvaged(let path, _, _):
      try Self.add(try FileSource(path: path), to: &hasher, isCancelled)
      if isOneOfSeveral { hasher.update(data: Data("\u{1F}\(location)".utf8)) }
    case .memory(let bytes): hasher.update(data: bytes)
    case .file(let path):
      try Self.add(try FileSource(path: path), to: &hasher, isCancelled)
      let folder = try folder()
      for member in folder.members {
        hasher.update(data: Data("\u{1F}\(member.name)\u{1F}\(member.size)\u{1F}".utf8))
        try Self.add(try folder.source(of: member), to: &hasher, isCancelled)
      }
    }
    return Data(hasher.finalize())
  }

  /// The version of this reader. Raise it when the same file gives more samples than before.
  private static let readerVersion = 1

  private static func add(_ source: any ByteSource, to hasher: inout SHA256, _ isCancelled: () -> Bool) throws {
    defer { source.close() }
    let size = 1 << 20
    let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
    defer { buffer.deallocate() }
    while true {
      if isCancelled() { throw CancellationError() }
      let count = try source.read(into: buffer, count: size)
      if count == 0 { return }
      hasher.update(bufferPointer: UnsafeRawBufferPointer(start: buffer, count: count))
    }
  }
}
