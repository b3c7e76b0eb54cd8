import HealthAnalysis
import HealthModel

/// Nights as JSON: docs/reference/json.md.
struct SleepObject: Encodable {
  var zone: String
  var nights: [NightObject]

  struct NightObject: Encodable {
    var date: String
    /// Naps included.
    var asleep: Double?
    var night: Session
    var naps: [Session]
  }

  /// Durations are in seconds.
  struct Session: Encodable {
    var start: String
    var end: String
    var source: String?
    var onset: String?
    var wake: String?
    var midpoint: String?
    var asleep: Double?
    var inBed: Double
    var awake: Double?
    var core: Double?
    var deep: Double?
    var rem: Double?
    var unspecified: Double?
    var unknown: Double?
    var latency: Double?
    var efficiency: Double?
    var reading: Bool?
    var segments: [Segment]
  }

  struct Segment: Encodable {
    var start: String
    var end: String
    var stage: String
  }

  init(_ nights: [Night], _ zone: ZoneRules) {
    self.zone = zone.name
    self.nights = nights.map { night in
      NightObject(
        date: zone.date(night), asleep: night.asleep, night: Self.session(night.main, zone),
        naps: night.naps.map { Self.session($0, zone) })
    }
  }

  private static func session(_ session: SleepSession, _ zone: ZoneRules) -> Session {
    func duration(_ stage: SleepStage) -> Double? { session.source == nil ? nil : session.duration(of: stage) }
    return Session(
      start: zone.text(session.start), end: zone.text(session.end), source: session.source,
      onset: session.onset.map(zone.text), wake: session.wake.map(zone.text), midpoint: session.midpoint.map(zone.text),
      asleep: session.asleep, inBed: session.duration(of: .inBed), awake: duration(.awake), core: duration(.asleepCore),
      deep: duration(.asleepDeep), rem: duration(.asleepREM), unspecified: duration(.asleepUnspecified),
      unknown: session.unknown,
      latency: session.latency, efficiency: session.efficiency, reading: session.stated == nil ? nil : true,
      segments: session.segments.map {
        Segment(start: zone.text($0.start), end: zone.text($0.end), stage: name(of: $0.stage))
      })
  }

  private static func name(of stage: SleepStage) -> String {
    switch stage {
    case .inBed: "inBed"
    case .awake: "awake"
    case .asleepCore: "core"
    case .asleepDeep: "deep"
    case .asleepREM: "rem"
    case .asleepUnspecified: "unspecified"
    }
  }
}

extension ZoneRules {
  /// The date on which the sleep day of a night ended.
  func date(_ night: Night) -> String { date(Timestamp(seconds: start(ofDay: night.day))) }
}
