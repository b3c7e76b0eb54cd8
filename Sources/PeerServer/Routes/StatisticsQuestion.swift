import HealthAnalysis
import HealthModel
import Hummingbird
import PeerProtocol

/// The validated query of a statistics request.
struct StatisticsQuestion: Sendable {
  /// The maximum number of types in one request.
  static let maximumTypes = 32

  /// The types in the order of the answer.
  var types: [SampleType]
  var size: BucketSize
  var zone: ZoneRules
  /// The first date in the zone, as it was given.
  var from: String?
  var to: String?
  var sources: Set<String>?
  var weekStartsOnSunday: Bool
  private var start: Timestamp?
  private var end: Timestamp?

  /// - Parameter home: the default zone. A client that may only read daily values may use no other, because days of
  ///   two zones would reveal hours.
  init(_ parameters: Parameters, home: ZoneRules, isOnlyDaily: Bool) throws {
    do throws(QueryFieldError) {
      types = (try QueryField.types(parameters["types"]) ?? []).sorted { $0.rawValue < $1.rawValue }
      sources = try QueryField.sources(parameters.getAll("source"))
    } catch {
      throw ServerFailure.badRequest(error.description)
    }
    guard !types.isEmpty else { throw ServerFailure.badRequest("'types' is missing") }
    guard types.count <= Self.maximumTypes else {
      throw ServerFailure.badRequest("'types' names more than \(Self.maximumTypes)")
    }
    guard let size = BucketSize(rawValue: parameters["bucket"].map(String.init) ?? "day") else {
      throw ServerFailure.badRequest("'bucket' is not hour, day, week, month or year")
    }
    self.size = size
    switch parameters["weekStart"] {
    case nil, "monday": weekStartsOnSunday = false
    case "sunday": weekStartsOnSunday = true
    default: throw ServerFailure.badRequest("'weekStart' is neither monday nor sunday")
    }
    zone = try Self.zone(parameters["zone"], home: home)
    if isOnlyDaily, size != .day || zone.name != home.name || sources != nil { throw ServerFailure.onlyDaily }
    (from, to) = (parameters["from"].map(String.init), parameters["to"].map(String.init))
    let first = try from.map { try Self.day($0, "from") }
    let last = try to.map { try Self.day($0, "to") }
    if let first, let last, first > last { throw ServerFailure.badRequest("'from' is after 'to'") }
    start = first.map { Timestamp(seconds: zone.start(ofDay: $0)) }
    end = last.map { Timestamp(seconds: zone.start(ofDay: $0 + 1)) }
  }

  func query(_ type: SampleType, now: Timestamp) -> StatisticsQuery {
    var query = StatisticsQuery(type, by: size, in: zone, now: now)
    (query.start, query.end, query.sources) = (start, end, sources)
    query.weekStartsOnSunday = weekStartsOnSunday
    return query
  }

  private static func zone(_ text: Substring?, home: ZoneRules) throws -> ZoneRules {
    guard let text, text != "home", text != home.name else { return home }
    do {
      return try ZoneRules(named: String(text))
    } catch {
      throw ServerFailure.badRequest("'zone' is not a time zone such as Europe/Berlin")
    }
  }

  /// Parses a date such as `2024-06-15` into days since 1970-01-01.
  private static func day(_ text: String, _ name: String) throws -> Int {
    guard text.utf8.count == 10, let midnight = Timestamp(iso8601: text + "T00:00:00Z") else {
      throw ServerFailure.badRequest("'\(name)' is not a date such as 2024-06-15")
    }
    return Int(midnight.seconds / 86_400)
  }
}
