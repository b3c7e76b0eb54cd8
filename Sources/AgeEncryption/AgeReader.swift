import Cryptography
import Foundation

/// Reads a file in the format of age (https://age-encryption.org/v1), binary or as text (armor). Holds some 256 KiB,
/// however large it is. What it returns is as it was encrypted; where the file was changed or ends early, it throws before
/// that, so nothing is to be relied on before ``read()`` has returned `nil`.
///
/// ```swift
/// func decrypt(_ file: FileHandle, with key: AgeKey, write: ([UInt8]) throws -> Void) throws {
///   let reader = try AgeReader { Array(try file.read(upToCount: $0) ?? Data()) }
///   try reader.unlock([key])
///   while let piece = try reader.read() { try write(piece) }
/// }
/// ```
public final class AgeReader {
  /// At most so many of the next bytes; none at the end.
  public typealias Source = (_ count: Int) throws -> [UInt8]

  private let header: AgeHeader
  private let input: ReadAheadBytes
  private var cipher: PayloadCipher?
  private var isOver = false

  /// Reads the header. Throws ``AgeError``, and what `source` does. Blocks as that does.
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

  /// Whether a passphrase opens it, and nothing else; otherwise keys do.
  public var isForPassphrase: Bool { header.isForPassphrase }

  /// Finds out which of `keys` opens the file. Blocks while a passphrase is hashed.
  public func unlock(_ keys: [AgeKey]) throws {
    let fileKey = try header.fileKey(keys)
    try input.fill(PayloadCipher.nonceCount)
    guard input.buffer.count >= PayloadCipher.nonceCount else { throw AgeError.cutOff }
    cipher = PayloadCipher(fileKey, nonce: input.take(PayloadCipher.nonceCount))
  }

  /// The next piece, of at most 64 KiB; `nil` at the end. To be called after ``unlock(_:)``.
  public func read() throws -> [UInt8]? {
    if isOver { return nil }
    guard var cipher else { throw AgeError.needsKey }
    // One byte more says that it is not the last.
    try input.fill(PayloadCipher.sealedCount + 1)
    let isLast = input.buffer.count <= PayloadCipher.sealedCount
    let piece = input.take(min(input.buffer.count, PayloadCipher.sealedCount))
    let number = cipher.number
    guard piece.count >= AuthenticatedCipher.tagByteCount else { throw AgeError.cutOff }
    guard let bytes = cipher.open(piece, isLast: isLast) else { throw AgeError.damaged(piece: Int(clamping: number)) }
    // Only a file of nothing has an empty piece.
    if bytes.isEmpty, number > 0 { throw AgeError.damaged(piece: Int(clamping: number)) }
    self.cipher = cipher
    isOver = isLast
    return bytes.isEmpty ? nil : bytes
  }
}
