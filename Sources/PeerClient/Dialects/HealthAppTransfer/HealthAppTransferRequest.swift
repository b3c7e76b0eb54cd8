import Foundation
import HealthAppTransfer
import HealthModel

/// The requests that the app answers. Those that end or hang it cannot be made: a characteristic type, a negative or huge
/// offset, a limit of nothing.
struct HealthAppTransferRequest: Hashable {
  /// A type that the app may be asked for.
  struct AppType: PhoneType, Hashable, Comparable {
    /// As the app calls it: letters and digits only.
    let name: String
    let type: SampleType

    /// `nil` for characteristics, which end the app, and for what this version does not know, which may be one.
    init?(_ name: String) {
      guard let entry = AppTypes.entry(named: name), entry.kind != .characteristic,
        name.utf8.allSatisfy({ Self.letters.contains($0) })
      else { return nil }
      (self.name, type) = (name, entry.type)
    }

    private static let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    static func < (first: Self, second: Self) -> Bool { first.name < second.name }
  }

  /// The most that the app sends in one page.
  static let mostRows = 1_000
  /// More rows than any phone has of a type, and far from where the app's sums overflow.
  static let mostOffset = 20_000_000

  let request: AppRequest

  private init(_ request: AppRequest) { self.request = request }

  /// Which types have samples. It lists them, and counts none.
  static func types(token: String) -> Self { Self(AppRequest(.get, "/health/types", token: token)) }

  /// Rows `offset` up to `offset + limit` of a type, newest first. Both are held to what the app bears.
  static func data(_ type: AppType, offset: Int, limit: Int, token: String) -> Self {
    let (offset, limit) = (min(max(offset, 0), mostOffset), min(max(limit, 1), mostRows))
    return Self(AppRequest(.get, "/health/data?type=\(type.name)&offset=\(offset)&limit=\(limit)", token: token))
  }

  /// Exchanges a code for a token.
  static func pair(code: String, deviceName: String) throws -> Self {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let body = try encoder.encode(["code": code, "deviceName": String(deviceName.prefix(64))])
    return Self(AppRequest(.post, "/api/v1/pair", json: Array(body)))
  }
}
