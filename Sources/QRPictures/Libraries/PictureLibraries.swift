/// The libraries that read a picture format.
struct PictureLibraries {
  private static let enoughPoints = 16_000_000

  private let zbar: ZBar
  private let png: LibPNG?

  /// Loads the libraries. Throws ``QRPictureError/missing(_:)`` with the names of Debian's packages.
  init(for format: PictureHeader.Format) throws(QRPictureError) {
    let (zbar, png) = (ZBar(), format == .png ? LibPNG() : nil)
    var missing: [String] = []
    if zbar == nil { missing.append("libzbar0") }
    if format == .png, png == nil { missing.append("libpng16-16") }
    guard let zbar, missing.isEmpty else { throw .missing(missing) }
    (self.zbar, self.png) = (zbar, png)
  }

  /// Returns the distinct texts of the QR codes in a picture, at least one.
  func codes(in bytes: [UInt8], _ header: PictureHeader) throws(QRPictureError) -> [[UInt8]] {
    let decoded = png.map { $0.decode(bytes, header) } ?? zbar.decodeJPEG(bytes)
    guard var picture = decoded else { throw .damaged }
    // The largest photos have more pixels than any code needs, and trying all variants of them would exceed the time
    // limit.
    while picture.points.count > Self.enoughPoints, let half = picture.halved() { picture = half }
    for version in GreyPicture.versions {
      guard let picture = version(picture) else { continue }
      var texts: [[UInt8]] = []
      for text in zbar.codes(in: picture) where !texts.contains(text) { texts.append(text) }
      if !texts.isEmpty { return texts }
    }
    throw .nothingFound
  }
}
