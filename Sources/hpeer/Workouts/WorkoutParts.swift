import HealthAnalysis
import HealthModel
import Terminal

/// The legs, events and measurements of a workout, for people.
struct WorkoutParts {
  let details: WorkoutDetails
  let zone: ZoneRules
  let units: UnitChoice

  /// The maximum number of events that are shown.
  private static let mostEvents = 40
  private static let metresOfSwimming = 100.0

  func print() throws {
    try printMeasures()
    try printLegs()
    try printEvents()
  }

  // MARK: What was measured

  private func printMeasures() throws {
    let words = details.measures.map { measure -> String in
      let name = SampleTypeCatalogue.healthKit[measure.type]?.displayName.lowercased() ?? measure.type.shortName
      let numbers = [measure.sum ?? measure.mean, measure.minimum, measure.maximum].map { number in
        number.map { text($0, measure) }
      }
      let range = measure.sum == nil ? [numbers[1], numbers[2]].compactMap(\.self) : []
      let value = numbers[0] ?? "-"
      let words = "\(PlainText.escaped(name, limit: 60)) \(value)"
      return range.count == 2 ? "\(words) (\(range[0]) to \(range[1]))" : words
    }
    if let effort = details.effort {
      let score = "effort \(HumanFormat.number(effort.score)) of 10"
      try Console.print(effort.isEstimated ? "\(score), as the watch estimates it" : score)
    }
    if !words.isEmpty { try Console.print(phrases: words, separator: ", ") }
  }

  private func text(_ value: Double, _ measure: WorkoutMeasure) -> String {
    let quantity = units.quantity(Quantity(value, measure.unit), of: measure.type)
    let aggregation: SampleTypeCatalogue.Aggregation = measure.sum == nil ? .discrete : .cumulative
    return NumberText(unit: quantity.unit.isEmpty ? nil : quantity.unit, aggregation: aggregation)
      .withUnit(quantity.value)
  }

  // MARK: Legs

  private func printLegs() throws {
    let legs = details.legs
    if legs.isEmpty { return }
    let hasPower = legs.contains { $0.power != nil }
    let hasRest = legs.contains { $0.rest != nil }
    var columns: [Table.Column] = [
      .init("LEG", .trailing), .init("ACTIVITY"), .init("START", isWhole: true), .init("TIME", .trailing),
      .init("DISTANCE", .trailing), .init("PACE", .trailing), .init("HEART RATE", .trailing),
      .init("ENERGY", .trailing),
    ]
    if hasPower { columns.append(.init("POWER", .trailing)) }
    if hasRest { columns.append(.init("REST", .trailing)) }
    let text = WorkoutPresentation(zone: zone, units: units)
    var table = Table(columns: columns)
    for (index, leg) in legs.enumerated() {
      var cells: [Table.Cell] = [
        .init("\(index + 1)"), .init(PlainText.escaped(leg.activity.displayName, limit: 40)),
        .init(clock(leg.start)), .init(leg.duration.map(WorkoutPresentation.time) ?? "-"),
        .init(leg.distance.flatMap(text.distance) ?? "-"), .init(pace(of: leg) ?? "-"),
        .init(leg.heartRate.map { HumanFormat.number($0.mean.rounded()) } ?? "-"),
        .init(leg.energy.flatMap(text.energy) ?? "-"),
      ]
      if hasPower { cells.append(.init(leg.power.map { "\(HumanFormat.number($0.rounded())) W" } ?? "-")) }
      if hasRest { cells.append(.init(leg.rest.map(WorkoutPresentation.time) ?? "-")) }
      table.append(cells)
    }
    try Console.print("")
    try Console.print(table)
  }

  /// Returns a time of day, such as `14:32:05`.
  private func clock(_ instant: Timestamp) -> String { String(zone.text(instant).dropFirst(11).prefix(8)) }

  /// Returns the minutes for a kilometre or a mile, or for a hundred metres of swimming; for cycling, the speed.
  private func pace(of leg: WorkoutLeg) -> String? {
    guard let seconds = leg.duration, let metres = leg.distance, seconds > 0, metres >= 1 else { return nil }
    let activity = leg.activity.exported
    if activity.hasSuffix("Swimming") {
      return "\(WorkoutPresentation.time(seconds / metres * Self.metresOfSwimming))/100 m"
    }
    let unit = units.distance == "mi" ? "mi" : "km"
    guard let length = UnitConversion.convert(1, from: unit, to: "m") else { return nil }
    if activity.hasSuffix("Cycling") {
      return "\(HumanFormat.number((metres / length / seconds * 36_000).rounded() / 10)) \(unit)/h"
    }
    return "\(WorkoutPresentation.time(seconds / metres * length))/\(unit)"
  }

  // MARK: Events

  private struct Event {
    var name: String
    var start: Timestamp
    var seconds: Double?
  }

  private func printEvents() throws {
    let prefix = "HKWorkoutEventType"
    var events = details.summary.workout.events.compactMap { event -> Event? in
      let name = event.type.hasPrefix(prefix) ? String(event.type.dropFirst(prefix.count)) : event.type
      guard ["Lap", "Segment", "Marker"].contains(name) else { return nil }
      return Event(name: name.lowercased(), start: event.date, seconds: event.duration)
    }
    events += details.pauses.map { pause in
      Event(
        name: "pause", start: Timestamp(microseconds: pause.lowerBound),
        seconds: (Double(pause.upperBound) - Double(pause.lowerBound)) / 1_000_000)
    }
    events.sort { $0.start < $1.start }
    if events.isEmpty { return }
    var table = Table(columns: [.init("EVENT"), .init("START", isWhole: true), .init("TIME", .trailing)])
    for event in events.prefix(Self.mostEvents) {
      table.append([
        .init(event.name), .init(clock(event.start)), .init(event.seconds.map(WorkoutPresentation.time) ?? "-"),
      ])
    }
    try Console.print("")
    try Console.print(table)
    let rest = events.count - Self.mostEvents
    if rest > 0 { Console.say("… and \(HumanFormat.count(rest, "more event")); --json has all.") }
  }
}
