import Foundation
import HealthAppTransfer
import HealthModel

/// A request to the app. Requests that crash or hang the app cannot be created: characteristic types, negative or
/// huge offsets, a limit of zero.
struct HealthAppTransferRequest: Hashable {
  /// A type that the app can be asked for.
  struct AppType: PhoneType, Hashable, Comparable {
    /// The app's name of the type: letters and digits only.
    let name: String
    let type: SampleType

    /// Creates a type, or returns `nil` for a characteristic, which crashes the app, or an unknown type, which may be
    /// one.
    init?(_ name: String) {
      guard let entry = AppTypes.entry(named: name), entry.kind != .characteristic,
        name.utf8.allSatisfy({ Self.letters.contains($0) })
      else { return nil }
      (self.name, type) = (name, entry.type)
    }

    private static let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    static func < (first: Self, second: Self) -> Bool { first.name < second.name }
  }

  /// The maximum number of rows that the app sends in one page.
  static let mostRows = 1_000
  /// The maximum offset: more rows than any phone has of a type, and far from an integer overflow in the app.
  static let mostOffset = 20_000_000

  let request: AppRequest

  private init(_ request: AppRequest) { self.request = request }

  /// Returns the request for the list of types that have samples. The list has no counts.
  static func types(token: String) -> Self { Self(AppRequest(.get, "/health/types", token: token)) }

  /// Returns the request for rows `offset` to `offset + limit` of a type, newest first. Both numbers are clamped to
  /// what the app supports.
  static func data(_ type: AppType, offset: Int, limit: Int, token: String) -> Self {
    let (offset, limit) = (min(max(offset, 0), mostOffset), min(max(limit, 1), mostRows))
    return Self(AppRequest(.get, "/health/data?type=\(type.name)&offset=\(offset)&limit=\(limit)", token: token))
  }

  /// Returns the request that exchanges a code for a token.
  static func pair(code: String, deviceName: String) throws -> Self {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let body = try encoder.encode(["code": code, "deviceName": String(deviceName.prefix(64))])
    return Self(AppRequest(.post, "/api/v1/pair", json: Array(body)))
  }
}
