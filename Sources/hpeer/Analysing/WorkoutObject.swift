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

  struct HeartRate: Encodable {
    var mean: Double
    var min: Double?
    var max: Double?
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
    heartRate = details.heartRate.map { HeartRate(mean: $0.mean, min: $0.minimum, max: $0.maximum) }
    if let edges = zones?.edges, !details.zones.isEmpty {
      self.zones = details.zones.enumerated().map { index, seconds in
        Zone(from: index == 0 ? nil : edges[index - 1], to: index < edges.count ? edges[index] : nil, seconds: seconds)
      }
    }
    splits = details.splits
    routeDistance = details.routeDistance
    ascent = details.ascent
  }
}
