import AgeEncryption
import Cryptography
import Foundation
import OperatingSystem
import ZstandardFrames

/// A reader for backups from any source, encrypted by age or not. Each file is compared with the manifest, so do not
/// rely on anything before ``files(_:_:)`` has returned. Memory use is constant. Blocking: use a thread of its own.
public final class BackupReader {
  /// The protection of a backup file.
  public enum Protection: Hashable, Sendable {
    case none
    /// The backup is decrypted with a passphrase.
    case passphrase
    /// The backup is decrypted with a key.
    case key
  }

  private static let begin: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]

  public let protection: Protection
  private let encrypted: AgeReader?
  private let tar: TarReader

  /// Creates a reader and reads the first bytes. Throws ``BackupError``, `AgeError`, `SystemError`.
  public convenience init(path: String) throws {
    let file = try FileBytes(path)
    try self.init(file.read)
  }

  /// Creates a reader.
  /// - Parameter source: returns the bytes of the backup.
  package init(_ source: @escaping AgeReader.Source) throws {
    let bytes = ReadAheadBytes(source)
    try bytes.fill(Self.begin.count)
    func rest(_ count: Int) throws -> [UInt8] {
      try bytes.fill(1)
      return bytes.take(min(count, bytes.buffer.count))
    }
    if bytes.buffer.starts(with: Self.begin) {
      (protection, encrypted) = (.none, nil)
      tar = TarReader(ZstandardBytes(rest).read)
    } else {
      do {
        let reader = try AgeReader(rest)
        (protection, encrypted) = (reader.isForPassphrase ? .passphrase : .key, reader)
        tar = TarReader(ZstandardBytes { _ in try reader.read() ?? [] }.read)
      } catch AgeError.notAge {
        throw BackupError.notABackup
      }
    }
  }

  /// Unlocks an encrypted backup. Blocks for about a second to hash a passphrase.
  public func unlock(_ keys: [AgeKey]) throws { try encrypted?.unlock(keys) }

  /// Returns the manifest, which is the first file. Call it once, before ``files(_:_:)``.
  public func manifest() throws -> BackupManifest {
    guard let entry = try tar.next(), entry.name == BackupManifest.fileName else { throw BackupError.notABackup }
    guard entry.size <= BackupManifest.mostBytes else { throw BackupError.damaged("its manifest is too long") }
    var bytes: [UInt8] = []
    while let piece = try tar.read() { bytes += piece }
    return try BackupManifest(bytes)
  }

  /// Reads the other files to the end. Throws ``BackupError`` if a file is missing, changed or not in the manifest.
  ///
  /// - Parameter take: called with each file and a function that returns its next piece, `nil` at the end. Pieces
  ///   that it does not request are read and checked nevertheless.
  public func files(
    _ manifest: BackupManifest, _ take: (BackupManifest.File, () throws -> [UInt8]?) throws -> Void
  ) throws {
    var missing = Dictionary(manifest.files.map { ($0.name, $0) }) { first, _ in first }
    while let entry = try tar.next() {
      guard let file = missing.removeValue(forKey: entry.name), file.bytes == entry.size else {
        throw BackupError.damaged("it holds a file that its manifest does not have")
      }
      var hash = SHA256()
      func next() throws -> [UInt8]? {
        guard let piece = try tar.read() else { return nil }
        hash.update(data: piece)
        return piece
      }
      try take(file, next)
      while try next() != nil {}
      guard hash.finalize().elementsEqual(Self.bytes(hex: file.sha256)) else {
        throw BackupError.changed(file: file.name)
      }
    }
    if let name = missing.keys.min() { throw BackupError.damaged("\(name) is missing") }
  }

  private static func bytes(hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16) ?? 0
    }
  }
}

/// A reader for the content of Zstandard frames.
final class ZstandardBytes {
  private static let room = 128 << 10

  private let input: ReadAheadBytes
  private let decompressor = ZstandardDecompressor()

  init(_ source: @escaping AgeReader.Source) { input = ReadAheadBytes(source) }

  func read(_ count: Int) throws -> [UInt8] {
    while true {
      try input.fill(1)
      let isAtEnd = input.buffer.isEmpty
      let piece = try step()
      if !piece.isEmpty { return piece }
      if isAtEnd {
        guard decompressor.isBetweenFrames else { throw BackupError.cutOff }
        return []
      }
    }
  }

  private func step() throws(BackupError) -> [UInt8] {
    do throws(ZstandardDecompressor.Failure) {
      var used = 0
      var failure: ZstandardDecompressor.Failure?
      let piece = [UInt8](unsafeUninitializedCapacity: Self.room) { room, count in
        input.buffer.withUnsafeBytes { bytes in
          do throws(ZstandardDecompressor.Failure) {
            (used, count) = try decompressor.decompress(bytes, into: UnsafeMutableRawBufferPointer(room))
          } catch {
            failure = error
          }
        }
      }
      if let failure { throw failure }
      _ = input.take(used)
      return piece
    } catch {
      switch error {
      case .windowTooLarge:
        throw .damaged("it was compressed with --long or --ultra, which needs more memory than is allowed")
      case .damaged(let detail): throw .damaged(detail)
      }
    }
  }
}
