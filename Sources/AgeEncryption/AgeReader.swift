import Cryptography
import Foundation

/// A reader for files in the format of age (https://age-encryption.org/v1), binary or armored. Uses some 256 KiB of
/// memory, whatever the size of the file. Every returned piece is authentic. If the file was changed or truncated,
/// ``read()`` throws at that place, so do not rely on the data before it has returned `nil`.
///
/// ```swift
/// func decrypt(_ file: FileHandle, with key: AgeKey, write: ([UInt8]) throws -> Void) throws {
///   let reader = try AgeReader { Array(try file.read(upToCount: $0) ?? Data()) }
///   try reader.unlock([key])
///   while let piece = try reader.read() { try write(piece) }
/// }
/// ```
public final class AgeReader {
  /// A function that returns the next bytes, usually at most `count`; an empty array at the end.
  public typealias Source = (_ count: Int) throws -> [UInt8]

  private let header: AgeHeader
  private let input: ReadAheadBytes
  private var cipher: PayloadCipher?
  private var isOver = false

  /// Creates a reader and reads the header. Throws ``AgeError``, and the errors of `source`. Blocks if `source` does.
  public init(_ source: @escaping Source) throws {
    let file = ReadAheadBytes(source)
    let begin = Array(ArmorReader.begin.utf8)
    try file.fill(begin.count)
    let bytes = file.buffer.starts(with: begin) ? ReadAheadBytes(ArmorReader(file).read) : file
    input = bytes
    var isBegun = false
    do {
      header = try AgeHeader {
        guard let line = try bytes.line(atMost: AgeHeader.mostBytes) else { throw AgeError.cutOff }
        isBegun = true
        return line
      }
    } catch AgeError.cutOff where !isBegun {
      throw AgeError.notAge
    }
  }

  /// Whether the file is decrypted with a passphrase rather than with keys.
  public var isForPassphrase: Bool { header.isForPassphrase }

  /// Unwraps the file key with one of `keys`. Blocks while a passphrase is hashed.
  public func unlock(_ keys: [AgeKey]) throws {
    let fileKey = try header.fileKey(keys)
    try input.fill(PayloadCipher.nonceCount)
    guard input.buffer.count >= PayloadCipher.nonceCount else { throw AgeError.cutOff }
    cipher = PayloadCipher(fileKey, nonce: input.take(PayloadCipher.nonceCount))
  }

  /// Returns the next piece, at most 64 KiB; `nil` at the end. Call it after ``unlock(_:)``.
  public func read() throws -> [UInt8]? {
    if isOver { return nil }
    guard var cipher else { throw AgeError.needsKey }
    // If there is one more byte, this piece is not the last.
    try input.fill(PayloadCipher.sealedCount + 1)
    let isLast = input.buffer.count <= PayloadCipher.sealedCount
    let piece = input.take(min(input.buffer.count, PayloadCipher.sealedCount))
    let number = cipher.number
    guard piece.count >= AuthenticatedCipher.tagByteCount else { throw AgeError.cutOff }
    guard let bytes = cipher.open(piece, isLast: isLast) else { throw AgeError.damaged(piece: Int(clamping: number)) }
    // A piece may only be empty if the whole file is empty.
    if bytes.isEmpty, number > 0 { throw AgeError.damaged(piece: Int(clamping: number)) }
    self.cipher = cipher
    isOver = isLast
    return bytes.isEmpty ? nil : bytes
  }
}
