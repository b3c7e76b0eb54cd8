import HealthAnalysis
import HealthModel

/// A workout as JSON: docs/reference/json.md.
struct WorkoutObject: Encodable {
  var id: String
  var start: String
  var end: String
  var activity: String
  var source: String
  var counted: Bool
  var duration: JSONNumber?
  var elapsed: Double
  var distance: JSONNumber?
  var energy: JSONNumber?
  var merged: Bool?
  var heartRate: HeartRate?
  var zones: [Zone]?
  var splits: [Double]?
  var routeDistance: Double?
  var ascent: Double?
  var legs: [Leg]?
  var events: [Event]?
  var measures: [Measure]?
  var effort: Effort?

  struct Leg: Encodable {
    var activity: String
    var start: String
    var end: String
    var duration: Double?
    var distance: Double?
    var energy: Double?
    var heartRate: HeartRate?
    var power: Double?
    var rest: Double?
  }

  struct Event: Encodable {
    var type: String
    var start: String
    var duration: JSONNumber?
  }

  struct Measure: Encodable {
    var type: String
    var unit: String?
    var sum: Double?
    var mean: Double?
    var min: Double?
    var max: Double?
  }

  struct Effort: Encodable {
    var score: Double
    var estimated: Bool
  }

  struct HeartRate: Encodable {
    var mean: Double
    var min: Double?
    var max: Double?

    init(_ rate: WorkoutHeartRate) { (mean, min, max) = (rate.mean, rate.minimum, rate.maximum) }
  }

  struct Zone: Encodable {
    var from: Double?
    var to: Double?
    var seconds: Double
  }

  init(_ summary: WorkoutSummary, _ zone: ZoneRules) {
    id = summary.sample.uuid.uuidString
    start = zone.text(summary.sample.start)
    end = zone.text(summary.sample.end)
    activity = summary.workout.activityType.exported
    source = summary.sample.source.name
    counted = summary.isCounted
    duration = summary.duration.map(JSONNumber.init)
    elapsed = summary.elapsed
    distance = summary.distance.map(JSONNumber.init)
    energy = summary.energy.map(JSONNumber.init)
    merged = summary.hasMergedDistance || summary.hasMergedEnergy ? true : nil
  }

  init(_ details: WorkoutDetails, _ zones: HeartRateZones?, _ zone: ZoneRules) {
    self.init(details.summary, zone)
    heartRate = details.heartRate.map(HeartRate.init)
    if let edges = zones?.edges, !details.zones.isEmpty {
      self.zones = details.zones.enumerated().map { index, seconds in
        Zone(from: index == 0 ? nil : edges[index - 1], to: index < edges.count ? edges[index] : nil, seconds: seconds)
      }
    }
    splits = details.splits
    routeDistance = details.routeDistance
    ascent = details.ascent
    legs = details.legs.map { leg in
      Leg(
        activity: leg.activity.exported, start: zone.text(leg.start), end: zone.text(leg.end), duration: leg.duration,
        distance: leg.distance, energy: leg.energy, heartRate: leg.heartRate.map(HeartRate.init), power: leg.power,
        rest: leg.rest)
    }
    events = details.summary.workout.events.map { event in
      Event(type: event.type, start: zone.text(event.date), duration: event.duration.map(JSONNumber.init))
    }
    measures = details.measures.map { one in
      Measure(
        type: one.type.shortName, unit: one.unit.isEmpty ? nil : one.unit, sum: one.sum, mean: one.mean,
        min: one.minimum, max: one.maximum)
    }
    effort = details.effort.map { Effort(score: $0.score, estimated: $0.isEstimated) }
  }
}
