import Foundation
import Glibc
import OperatingSystem

/// A reader for pictures that does all work in this process.
enum PictureReader {
  /// The maximum size of a picture file, in bytes; a photo of 48 megapixels has some 15 MiB.
  static let mostBytes = 32 << 20
  /// The resource limits, enough for the libraries and for decoding the largest picture.
  private static let limits = Confinement.Limits(memory: 2 << 30, processorSeconds: 30)

  /// Reads a picture.
  /// - Parameter confining: whether this process exists only for this, and confines itself before it parses.
  static func answer(from descriptor: Int32, confining: Bool) -> PictureAnswer {
    if confining { Confinement.leaveParent() }
    do throws(QRPictureError) {
      guard let bytes = read(descriptor) else { throw QRPictureError.tooLarge }
      let header = try PictureHeader(bytes)
      // Libraries must be loaded while files can still be opened.
      let libraries = try PictureLibraries(for: header.format)
      if confining { Confinement.enter(limits) }
      return PictureAnswer(codes: try libraries.codes(in: bytes, header))
    } catch {
      return PictureAnswer(error)
    }
  }

  /// Returns all bytes; `nil` if there are more than the maximum.
  private static func read(_ descriptor: Int32) -> [UInt8]? {
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return bytes }
      bytes += buffer[..<count]
      if bytes.count > mostBytes { return nil }
    }
  }
}

extension PictureAnswer {
  fileprivate init(_ error: QRPictureError) {
    switch error {
    case .missing(let names): self.init(failure: .missing, names)
    case .noPicture(let kind): self.init(failure: .noPicture, kind.map { [$0] } ?? [])
    case .tooLarge: self.init(failure: .tooLarge)
    case .nothingFound: self.init(failure: .nothingFound)
    case .unreadable, .damaged, .failed: self.init(failure: .damaged)
    }
  }
}
