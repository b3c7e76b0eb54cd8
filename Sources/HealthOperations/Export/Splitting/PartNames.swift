import Foundation
import HealthModel

/// The names of the files that an export is divided among: letters, digits, `-`, `_` and dots within, whatever a peer or a file
/// called the things, and the same for the same things every time.
struct PartNames {
  private static let maximumLength = 100

  private var used: Set<String> = []

  /// The short name of a type; one that cannot be a name of a file, or is another's short name, with a mark of the whole.
  static func name(of type: SampleType) -> String {
    let name = safe(type.shortName)
    let meant = SampleTypeCatalogue.healthKit.type(named: name)
    if name == type.shortName, meant == nil || meant == type { return name }
    return "\(name)-\(mark(of: type.rawValue))"
  }

  /// `2024-06-15-103000-Running`.
  static func name(at start: Timestamp, in zone: TimeZone, of activity: String) -> String {
    let time = Timestamp(seconds: start.seconds).iso8601(in: zone).prefix { $0 != "Z" && $0 != "." }
    let parts = time.split(separator: "T")
    let clock = parts.count > 1 ? parts[1].prefix(8).filter { $0 != ":" } : ""
    return safe([String(parts.first ?? ""), clock, activity].joined(separator: "-"))
  }

  /// The name itself, or with a number where another part has it.
  mutating func unused(_ name: String) -> String {
    var (candidate, number) = (name, 2)
    while !used.insert(candidate).inserted {
      candidate = "\(name)-\(number)"
      number += 1
    }
    return candidate
  }

  private static func safe(_ text: String) -> String {
    var name = ""
    for scalar in text.unicodeScalars {
      if scalar.isASCII,
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "._".unicodeScalars.contains(scalar)
      {
        name.unicodeScalars.append(scalar)
      } else if name.last != "-" {
        name.append("-")
      }
      if name.utf8.count == maximumLength { break }
    }
    // Nothing hidden, and nothing that looks like an option.
    let first = name.drop { $0 == "." || $0 == "-" }
    return first.isEmpty ? "unnamed" : String(first)
  }

  /// FNV-1a of a text, in eight digits.
  private static func mark(of text: String) -> String {
    let hash = text.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}
