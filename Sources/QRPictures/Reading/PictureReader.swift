import Foundation
import Glibc
import OperatingSystem

/// Reads one picture, all of it in this process.
enum PictureReader {
  /// Of a picture file; a photo of 48 million points has some 15 MiB.
  static let mostBytes = 32 << 20
  /// What decoding the largest picture takes, and the libraries.
  private static let limits = Confinement.Limits(memory: 2 << 30, processorSeconds: 30)

  /// - Parameter confining: whether this process is for that alone, and gives up all else before it parses.
  static func answer(from descriptor: Int32, confining: Bool) -> PictureAnswer {
    if confining { Confinement.leaveParent() }
    do throws(QRPictureError) {
      guard let bytes = read(descriptor) else { throw QRPictureError.tooLarge }
      let header = try PictureHeader(bytes)
      // While files can still be opened.
      let libraries = try PictureLibraries(for: header.format)
      if confining { Confinement.enter(limits) }
      return PictureAnswer(codes: try libraries.codes(in: bytes, header))
    } catch {
      return PictureAnswer(error)
    }
  }

  /// `nil` for more than is taken.
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
