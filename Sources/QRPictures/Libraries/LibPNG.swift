import Glibc

/// The simplified interface of libpng 1.6, which checks everything and never leaves a call with longjmp.
struct LibPNG {
  private typealias Begin = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer, Int) -> Int32
  private typealias Finish =
    @convention(c) (
      UnsafeMutableRawPointer, UnsafeRawPointer?, UnsafeMutableRawPointer, Int32, UnsafeMutableRawPointer?
    ) -> Int32
  private typealias Free = @convention(c) (UnsafeMutableRawPointer) -> Void

  private let begin: Begin
  private let finish: Finish
  private let free: Free

  /// The offsets and the size of `png_image` (png.h): a pointer, seven 32-bit numbers, a text of 64 bytes.
  private static let (version, width, height, format, size) = (8, 12, 16, 20, 104)

  /// Loads the library; `nil` if it is not installed.
  init?() {
    guard let library = DynamicLibrary("libpng16.so.16"),
      let begin = library.function("png_image_begin_read_from_memory", Begin.self),
      let finish = library.function("png_image_finish_read", Finish.self),
      let free = library.function("png_image_free", Free.self)
    else { return nil }
    (self.begin, self.finish, self.free) = (begin, finish, free)
  }

  /// Decodes a PNG, with white behind transparent pixels; `nil` if it is damaged or its size differs from its header.
  func decode(_ bytes: [UInt8], _ header: PictureHeader) -> GreyPicture? {
    let image = UnsafeMutableRawPointer.allocate(byteCount: Self.size, alignment: 8)
    defer { image.deallocate() }
    memset(image, 0, Self.size)
    // PNG_IMAGE_VERSION
    image.storeBytes(of: 1, toByteOffset: Self.version, as: UInt32.self)
    return bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress, begin(image, start, bytes.count) != 0 else { return nil }
      defer { free(image) }
      guard Int(image.load(fromByteOffset: Self.width, as: UInt32.self)) == header.width,
        Int(image.load(fromByteOffset: Self.height, as: UInt32.self)) == header.height
      else { return nil }
      // PNG_FORMAT_GRAY
      image.storeBytes(of: 0, toByteOffset: Self.format, as: UInt32.self)
      var points = [UInt8](repeating: 255, count: header.width * header.height)
      let isDecoded = points.withUnsafeMutableBytes { buffer in
        buffer.baseAddress.map { finish(image, nil, $0, Int32(header.width), nil) != 0 } ?? false
      }
      return isDecoded ? GreyPicture(width: header.width, height: header.height, points: points) : nil
    }
  }
}
