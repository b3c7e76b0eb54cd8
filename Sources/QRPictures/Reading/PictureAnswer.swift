import Foundation

/// The result of the reading process: texts, or the reason why there are none.
struct PictureAnswer: Codable, Hashable {
  enum Failure: String, Codable {
    case missing, noPicture, tooLarge, damaged, nothingFound
  }

  /// The maximum length of a text, longer than any QR code holds.
  private static let longestText = 4_096
  private static let mostTexts = 16
  /// The allowed names of formats and missing packages. They are printed, the packages in an install command, so a
  /// compromised process must not choose them.
  private static let knownNames: Set<String> = [
    "libzbar0", "libpng16-16", "HEIC", "GIF", "WebP", "TIFF", "PDF",
  ]
  /// The maximum length of the encoded answer, in bytes.
  static let longest = 4 * longestText * mostTexts

  var codes: [[UInt8]] = []
  var failure: Failure?
  /// The missing packages, or the format of the picture.
  var names: [String] = []

  init(codes: [[UInt8]]) { self.codes = codes.prefix(Self.mostTexts).map { Array($0.prefix(Self.longestText)) } }

  init(failure: Failure, _ names: [String] = []) { (self.failure, self.names) = (failure, names) }

  var encoded: Data { (try? JSONEncoder().encode(self)) ?? Data() }

  /// Decodes an answer from the reading process, which a malicious picture may have compromised.
  init(encoded: Data) throws(QRPictureError) {
    guard encoded.count <= Self.longest, let answer = try? JSONDecoder().decode(Self.self, from: encoded),
      answer.codes.count <= Self.mostTexts, answer.names.count <= 4,
      answer.codes.allSatisfy({ $0.count <= Self.longestText }), Self.knownNames.isSuperset(of: answer.names)
    else { throw .failed }
    self = answer
  }

  func texts() throws(QRPictureError) -> [String] {
    switch failure {
    case .missing: throw .missing(names)
    case .noPicture: throw .noPicture(kind: names.first)
    case .tooLarge: throw .tooLarge
    case .damaged: throw .damaged
    case .nothingFound: throw .nothingFound
    case nil: break
    }
    let texts = codes.compactMap { String(validating: $0, as: UTF8.self) }.filter { !$0.isEmpty }
    guard !texts.isEmpty else { throw .nothingFound }
    return texts
  }
}
