import CQREncode
import Glibc
import OperatingSystem

/// An error that occurs when a text cannot be encoded as a QR code.
public enum QRCodeError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text is empty. Its code would be valid and say nothing.
  case empty
  /// The text in UTF-8 is longer than the largest symbol (version 40, level M) holds.
  case tooLong(bytes: Int)
  /// libqrencode failed for another reason, an `errno` value.
  case encoder(code: Int32)

  public var description: String {
    switch self {
    case .empty:
      "There is no text to make a QR code of; copy the pairing text instead."
    case .tooLong(let bytes):
      "A text of \(bytes) bytes does not fit into a QR code; copy the text instead."
    case .encoder(let code):
      "The QR code could not be made (\(SystemMessage.text(code))); copy the text instead."
    }
  }
}

/// A QR code (ISO/IEC 18004) with error correction level M in the smallest version that holds the text.
///
/// Text of digits, upper-case letters, space and `$%*+-./:` is encoded in alphanumeric mode, 5.5 bits a character;
/// any other text as UTF-8 bytes.
///
/// ```swift
/// let code = try QRCode("HPEER:P1/STUDIO.LOCAL:8737")
/// guard let style = QRCode.RenderingStyle(for: .error, of: .current()) else { return }
/// try OutputWriter.standardError.writeLines(code.rendered(style: style))
/// ```
public struct QRCode: Sendable, Equatable {
  /// The version, 1 to 40. A code of version v has 17 + 4v modules on a side.
  public let version: Int
  /// The number of modules on a side, without the quiet zone.
  public let moduleCount: Int

  private let dark: [Bool]

  /// Creates the code of a text.
  ///
  /// - Parameter text: At most 3391 alphanumeric characters, or 2331 bytes of UTF-8.
  /// - Throws: ``QRCodeError``.
  public init(_ text: String) throws(QRCodeError) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty else { throw .empty }
    let mode = bytes.allSatisfy(QRCode.isAlphanumeric) ? QR_MODE_AN : QR_MODE_8

    // Version 0 asks for the smallest that fits.
    guard let input = QRinput_new2(0, QR_ECLEVEL_M) else { throw .encoder(code: errno) }
    defer { QRinput_free(input) }
    guard QRinput_append(input, mode, Int32(clamping: bytes.count), bytes) == 0 else { throw .encoder(code: errno) }
    guard let code = QRcode_encodeInput(input) else {
      throw errno == ERANGE ? .tooLong(bytes: bytes.count) : .encoder(code: errno)
    }
    defer { QRcode_free(code) }

    version = Int(code.pointee.version)
    moduleCount = Int(code.pointee.width)
    // The lowest bit of a module is its colour; the others are libqrencode's notes on its purpose.
    dark = UnsafeBufferPointer(start: code.pointee.data, count: moduleCount * moduleCount).map { $0 & 1 == 1 }
  }

  /// Returns whether a module is dark. Everything outside the code is light: it is the quiet zone.
  public func isDark(row: Int, column: Int) -> Bool {
    guard (0..<moduleCount).contains(row), (0..<moduleCount).contains(column) else { return false }
    return dark[row * moduleCount + column]
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: " $%*+-./:".utf8.contains(byte)
    }
  }
}
