import Foundation
import HealthModel

/// A generator of file names for the parts of an export. Names consist of letters, digits, `-`, `_` and inner dots,
/// whatever text a peer or a file supplied, and are the same for every export.
struct PartNames {
  private static let maximumLength = 100

  private var used: Set<String> = []

  /// Returns the short name of a type. A hash of the identifier is added if the short name is not a safe file name,
  /// or is another type's short name.
  static func name(of type: SampleType) -> String {
    let name = safe(type.shortName)
    let meant = SampleTypeCatalogue.healthKit.type(named: name)
    if name == type.shortName, meant == nil || meant == type { return name }
    return "\(name)-\(mark(of: type.rawValue))"
  }

  /// Returns a name such as `2024-06-15-103000-Running`.
  static func name(at start: Timestamp, in zone: TimeZone, of activity: String) -> String {
    let time = Timestamp(seconds: start.seconds).iso8601(in: zone).prefix { $0 != "Z" && $0 != "." }
    let parts = time.split(separator: "T")
    let clock = parts.count > 1 ? parts[1].prefix(8).filter { $0 != ":" } : ""
    return safe([String(parts.first ?? ""), clock, activity].joined(separator: "-"))
  }

  /// Returns the name, with a number if another part has the same name.
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
    // The name must not be hidden or look like an option.
    let first = name.drop { $0 == "." || $0 == "-" }
    return first.isEmpty ? "unnamed" : String(first)
  }

  /// Returns the FNV-1a hash of a text as eight hexadecimal digits.
  private static func mark(of text: String) -> String {
    let hash = text.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}
