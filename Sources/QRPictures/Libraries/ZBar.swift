/// The library libzbar, which finds QR codes in greyscale pictures and contains a JPEG decoder.
struct ZBar {
  private typealias Pointer = UnsafeMutableRawPointer
  private typealias Make = @convention(c) () -> Pointer?
  private typealias Use = @convention(c) (Pointer) -> Void
  private typealias Configure = @convention(c) (Pointer, Int32, Int32, Int32) -> Int32
  private typealias SetFormat = @convention(c) (Pointer, UInt) -> Void
  private typealias SetSize = @convention(c) (Pointer, UInt32, UInt32) -> Void
  private typealias SetData = @convention(c) (Pointer, UnsafeRawPointer, UInt, UnsafeRawPointer?) -> Void
  private typealias Convert = @convention(c) (Pointer, UInt) -> Pointer?
  private typealias Bytes = @convention(c) (Pointer) -> UnsafePointer<UInt8>?
  private typealias Length = @convention(c) (Pointer) -> UInt
  private typealias Number = @convention(c) (Pointer) -> UInt32
  private typealias Kind = @convention(c) (Pointer) -> Int32
  private typealias Next = @convention(c) (Pointer) -> Pointer?
  private typealias Scan = @convention(c) (Pointer, Pointer) -> Int32

  private let makeScanner, makeImage: Make
  private let endScanner, endImage: Use
  private let configure: Configure
  private let setFormat: SetFormat
  private let setSize: SetSize
  private let setData: SetData
  private let convert: Convert
  private let data, text: Bytes
  private let dataLength: Length
  private let width, height, textLength: Number
  private let kind: Kind
  private let first, next: Next
  private let scan: Scan

  // zbar.h: ZBAR_QRCODE, and settings for all symbologies and for the scanner.
  private static let (qrCode, all) = (Int32(64), Int32(0))
  private static let (enable, binary, inverted) = (Int32(0), Int32(4), Int32(0x81))
  /// Returns a format code of four characters, the first in the lowest byte.
  private static func code(_ text: StaticString) -> UInt {
    (0..<4).reduce(0) { $0 | UInt(text.utf8Start[$1]) << (8 * UInt($1)) }
  }

  /// Loads the library; `nil` if it is not installed.
  init?() {
    guard let library = DynamicLibrary("libzbar.so.0"),
      let makeScanner = library.function("zbar_image_scanner_create", Make.self),
      let endScanner = library.function("zbar_image_scanner_destroy", Use.self),
      let configure = library.function("zbar_image_scanner_set_config", Configure.self),
      let scan = library.function("zbar_scan_image", Scan.self),
      let makeImage = library.function("zbar_image_create", Make.self),
      let endImage = library.function("zbar_image_destroy", Use.self),
      let setFormat = library.function("zbar_image_set_format", SetFormat.self),
      let setSize = library.function("zbar_image_set_size", SetSize.self),
      let setData = library.function("zbar_image_set_data", SetData.self),
      let convert = library.function("zbar_image_convert", Convert.self),
      let data = library.function("zbar_image_get_data", Bytes.self),
      let dataLength = library.function("zbar_image_get_data_length", Length.self),
      let width = library.function("zbar_image_get_width", Number.self),
      let height = library.function("zbar_image_get_height", Number.self),
      let first = library.function("zbar_image_first_symbol", Next.self),
      let next = library.function("zbar_symbol_next", Next.self),
      let kind = library.function("zbar_symbol_get_type", Kind.self),
      let text = library.function("zbar_symbol_get_data", Bytes.self),
      let textLength = library.function("zbar_symbol_get_data_length", Number.self)
    else { return nil }
    (self.makeScanner, self.endScanner, self.makeImage, self.endImage) = (makeScanner, endScanner, makeImage, endImage)
    (self.configure, self.scan, self.convert) = (configure, scan, convert)
    (self.setFormat, self.setSize, self.setData) = (setFormat, setSize, setData)
    (self.data, self.dataLength, self.width, self.height) = (data, dataLength, width, height)
    (self.first, self.next, self.kind, self.text, self.textLength) = (first, next, kind, text, textLength)
  }

  /// Returns the texts of the QR codes in a picture, as raw bytes.
  func codes(in picture: GreyPicture) -> [[UInt8]] {
    guard let scanner = makeScanner() else { return [] }
    defer { endScanner(scanner) }
    _ = configure(scanner, Self.all, Self.enable, 0)
    _ = configure(scanner, Self.qrCode, Self.enable, 1)
    // Without this, the library opens character set tables, but files can no longer be opened.
    _ = configure(scanner, Self.qrCode, Self.binary, 1)
    _ = configure(scanner, Self.all, Self.inverted, 1)
    return withImage("Y800", picture.points, width: picture.width, height: picture.height) { image -> [[UInt8]]? in
      guard scan(scanner, image) > 0 else { return nil }
      var (texts, symbol) = ([[UInt8]](), first(image))
      while let found = symbol {
        if kind(found) == Self.qrCode, let start = text(found) {
          texts.append(Array(UnsafeBufferPointer(start: start, count: Int(textLength(found)))))
        }
        symbol = next(found)
      }
      return texts
    } ?? []
  }

  /// Decodes a JPEG; `nil` if it is damaged or the library was built without JPEG support.
  func decodeJPEG(_ bytes: [UInt8]) -> GreyPicture? {
    // With a size of zero, the image takes the decoder's size, and no memory is allocated for another.
    withImage("JPEG", bytes, width: 0, height: 0) { image in
      guard let grey = convert(image, Self.code("Y800")) else { return nil }
      defer { endImage(grey) }
      let (columns, rows) = (Int(width(grey)), Int(height(grey)))
      let (count, overflow) = columns.multipliedReportingOverflow(by: rows)
      guard let start = data(grey), !overflow, count > 0, count <= Int(dataLength(grey)),
        count <= PictureHeader.mostPoints
      else { return nil }
      return GreyPicture(
        width: columns, height: rows, points: Array(UnsafeBufferPointer(start: start, count: count)))
    }
  }

  private func withImage<Result>(
    _ format: StaticString, _ bytes: [UInt8], width: Int, height: Int, _ body: (Pointer) -> Result?
  ) -> Result? {
    guard let image = makeImage() else { return nil }
    defer { endImage(image) }
    setFormat(image, Self.code(format))
    setSize(image, UInt32(width), UInt32(height))
    return bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      setData(image, start, UInt(bytes.count), nil)
      return body(image)
    }
  }
}
