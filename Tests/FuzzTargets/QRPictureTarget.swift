import Foundation
@testable import PeerClient
import PeerProtocol

@testable import QRPictures

extension FuzzTarget {
  /// Fuzzes the reading of pictures. If the first byte is even, the rest is the beginning of a picture; if not, the
  /// answer of a picture-reading process that a picture has taken over.
  @Sendable static func qrPicture(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let rest = Array(input.dropFirst())
    if first & 1 == 0 { pictureHeader(rest) } else { pictureAnswer(rest) }
  }

  private static func pictureHeader(_ bytes: [UInt8]) {
    let header: PictureHeader
    do throws(QRPictureError) {
      header = try PictureHeader(bytes)
    } catch {
      require(!error.description.isEmpty, "a sentence for every error")
      return
    }
    require(header.width > 0 && header.height > 0, "no empty picture: \(header)")
    require(
      header.width <= PictureHeader.mostPoints / header.height, "no more points than are decoded: \(header)")
    // What follows the header changes nothing of what it says.
    require((try? PictureHeader(bytes + [0xFF, 0xD8, 0, 1])) == header, "the same with more after it: \(header)")
    let (width, height) = (bigEndian(header.width), bigEndian(header.height))
    switch header.format {
    case .png: require(contains(bytes, width + height), "the size that is written there: \(header)")
    case .jpeg:
      require(contains(bytes, Array(height.suffix(2) + width.suffix(2))), "the size that is written there: \(header)")
    }
  }

  private static func pictureAnswer(_ bytes: [UInt8]) {
    let texts: [String]
    do throws(QRPictureError) {
      let answer = try PictureAnswer(encoded: Data(bytes))
      require(
        answer.codes.count <= 16 && answer.codes.allSatisfy { $0.count <= 4_096 }, "no more than codes hold")
      require((try? PictureAnswer(encoded: answer.encoded)) == answer, "what is said can be read: \(text(bytes))")
      texts = try answer.texts()
    } catch {
      require(error.description.utf8.count <= 1_000, "a short sentence for every error")
      return
    }
    require(!texts.isEmpty && texts.allSatisfy { !$0.isEmpty }, "a text at least, and none that is empty")
    for text in texts {
      for invitation in [
        try? HealthSyncDialect.invitation(in: text), try? HealthAppTransferDialect.invitation(in: text),
      ] {
        guard let invitation else { continue }
        require(!invitation.code.isEmpty && invitation.code.utf8.count <= 64, "a code: \(text)")
        require(invitation.code.utf8.allSatisfy { (33...126).contains($0) }, "a code of plain letters: \(text)")
        for endpoint in [invitation.endpoint, invitation.loopback].compactMap(\.self) {
          require((1...65_535).contains(endpoint.port), "a port: \(text)")
          require(
            endpoint.host.unicodeScalars.allSatisfy { $0.value > 32 && $0.value != 127 }, "a host in one line: \(text)")
        }
      }
    }
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    bytes.indices.contains { bytes[$0...].starts(with: part) }
  }
}
