import AgeEncryption
import Cryptography
import Foundation
import Glibc
import OperatingSystem
import ZstandardFrames

/// A writer for backups: a tar file (POSIX) in a Zstandard frame (RFC 8878) in a file of age, so that `age -d backup
/// | zstd -d | tar -t` lists it. Memory use is constant. Blocking: use a thread of its own.
public struct BackupWriter {
  /// A file that goes into a backup.
  public struct Source: Hashable, Sendable {
    /// The name of the file in the archive: at most 100 bytes.
    public var name: String
    /// The path of the file, which must not change while it is read.
    public var path: String

    /// Creates a source. The file is opened when the archive is written.
    public init(name: String, path: String) { (self.name, self.path) = (name, path) }
  }

  private static let step = 256 << 10

  private let sources: [Source]
  private let recipients: [AgeRecipient]

  /// Creates a writer.
  /// - Parameter recipients: the recipients who can decrypt the backup; empty for an unencrypted backup.
  public init(_ sources: [Source], for recipients: [AgeRecipient]) {
    (self.sources, self.recipients) = (sources, recipients)
  }

  /// Returns the manifest's entries for the files. Reads each file once. Throws `SystemError`.
  ///
  /// - Parameter read: called with the number of bytes after each read; its errors end the call.
  public func files(_ read: (Int) throws -> Void = { _ in }) throws -> [BackupManifest.File] {
    try sources.map { source in
      var hash = SHA256()
      var bytes: Int64 = 0
      try Self.read(source.path) { piece in
        hash.update(data: piece)
        bytes += Int64(piece.count)
        try read(piece.count)
      }
      let hex = hash.finalize().map { String(format: "%02x", $0) }.joined()
      return BackupManifest.File(name: source.name, bytes: bytes, sha256: hex)
    }
  }

  /// Writes the backup. Throws `AgeError`, `SystemError`, and the errors of the closures.
  ///
  /// - Parameters:
  ///   - manifest: the manifest, with the ``files(_:)`` of this writer.
  ///   - read: called with the number of bytes after each read; its errors end the call.
  ///   - write: writes the next bytes of the backup.
  public func run(
    _ manifest: BackupManifest, _ read: (Int) throws -> Void = { _ in }, write: ([UInt8]) throws -> Void
  ) throws {
    var encryptor = recipients.isEmpty ? nil : try AgeEncryptor(to: recipients)
    let compressor = ZstandardCompressor()
    func put(compressed bytes: [UInt8]) throws {
      let bytes = encryptor?.encrypt(bytes) ?? bytes
      if !bytes.isEmpty { try write(bytes) }
    }
    func put(_ bytes: [UInt8]) throws { try put(compressed: compressor.compress(bytes)) }
    let modified = Int64(manifest.created.timeIntervalSince1970)
    let text = try manifest.encoded()
    try put(TarHeader.blocks(name: BackupManifest.fileName, size: Int64(text.count), modified: modified) + text)
    try put(TarHeader.padding(after: Int64(text.count)))
    for (source, file) in zip(sources, manifest.files) {
      try put(TarHeader.blocks(name: source.name, size: file.bytes, modified: modified))
      var left = file.bytes
      try Self.read(source.path) { piece in
        left -= Int64(piece.count)
        guard left >= 0 else { throw SystemError("read", source.path, code: ESTALE) }
        try put(piece)
        try read(piece.count)
      }
      guard left == 0 else { throw SystemError("read", source.path, code: ESTALE) }
      try put(TarHeader.padding(after: file.bytes))
    }
    try put(TarHeader.end)
    try put(compressed: compressor.finish())
    if let end = encryptor?.finish() { try write(end) }
  }

  private static func read(_ path: String, _ body: ([UInt8]) throws -> Void) throws {
    let source = try FileBytes(path)
    while case let piece = try source.read(step), !piece.isEmpty { try body(piece) }
  }
}

/// A file that is read sequentially from its beginning to its end.
final class FileBytes {
  private let descriptor: Int32
  private let path: String

  init(_ path: String) throws(SystemError) {
    self.path = path
    // Without O_NONBLOCK, opening a FIFO would block forever.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemError("open", path) }
  }

  deinit { close(descriptor) }

  /// Returns the next bytes, at most `count`; an empty array at the end.
  func read(_ count: Int) throws(SystemError) -> [UInt8] {
    while true {
      var result = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        result = Glibc.read(descriptor, buffer.baseAddress, count)
        filled = max(0, result)
      }
      if result >= 0 { return bytes }
      guard errno == EINTR else { throw SystemError("read", path) }
    }
  }
}
