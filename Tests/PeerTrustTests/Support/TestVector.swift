import HealthModel
import PeerProtocol
import Testing

/// A vector given as lines of `name = value`. Values are hexadecimal unless the field is text.
struct TestVector: Sendable, CustomTestStringConvertible {
  private let fields: [String: String]

  init(_ text: String) {
    var fields: [String: String] = [:]
    for line in text.split(separator: "\n") {
      guard let equals = line.firstIndex(of: "=") else { continue }
      let name = line[..<equals].split(separator: " ").joined()
      fields[name] = String(line[line.index(after: equals)...].drop { $0 == " " })
    }
    self.fields = fields
  }

  func text(_ name: String) throws -> String { try #require(fields[name]) }

  func bytes(_ name: String) throws -> [UInt8] { try #require(RadixCoding.hex.decode(text(name))) }

  var testDescription: String { fields["w"].map { "w = \($0.prefix(8))" } ?? "?" }
}

func hex(_ text: String) throws -> [UInt8] { try #require(RadixCoding.hex.decode(text)) }
