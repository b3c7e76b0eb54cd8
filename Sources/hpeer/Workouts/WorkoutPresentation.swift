import HealthAnalysis
import HealthModel
import Terminal

/// The presentation of workouts for people.
struct WorkoutPresentation {
  let zone: ZoneRules
  let units: UnitChoice

  // MARK: Many

  func print(_ workouts: [WorkoutSummary], _ screen: ScreenOption) throws {
    guard !workouts.isEmpty else { return Console.say("No workout in this range.") }
    var table = Table(columns: [
      .init("START", isWhole: true), .init("ACTIVITY"), .init("TIME", .trailing), .init("DISTANCE", .trailing),
      .init("ENERGY", .trailing), .init("SOURCE"), .init("ID", isWhole: true),
    ])
    let shown = screen.shown(of: workouts)
    for workout in shown {
      let start = zone.text(workout.sample.start)
      table.append([
        .init("\(start.prefix(10)) \(start.dropFirst(11).prefix(5))" + (workout.isCounted ? "" : " =")),
        .init(Self.name(workout)), .init(workout.duration.map(Self.time) ?? "-"),
        .init(distance(of: workout) ?? "-"), .init(energy(of: workout) ?? "-"),
        .init(workout.sample.source.name), .init(String(workout.sample.uuid.uuidString.prefix(8))),
      ])
    }
    try Console.print(table)
    screen.sayRest(of: workouts.count, shown: shown.count, "workout")
    let counted = workouts.filter(\.isCounted)
    Console.say(total(counted).joined(separator: ", ") + ".")
    if shown.contains(where: { !$0.isCounted }) {
      Console.say("= is another recording of a workout that is counted already.")
    }
    if workouts.contains(where: { $0.hasMergedDistance || $0.hasMergedEnergy }) {
      Console.say("~ is calculated from other samples of that time, because the workout has no value of its own.")
    }
  }

  /// Returns the number of workouts, and their total time and distance.
  func total(_ workouts: [WorkoutSummary]) -> [String] {
    let (distances, durations) = (workouts.compactMap(\.distance), workouts.compactMap(\.duration))
    let implausible = workouts.count - durations.count
    return [
      HumanFormat.count(workouts.count, "workout"), Self.time(durations.reduce(0, +)),
      distances.isEmpty ? nil : distance(distances.reduce(0, +)),
      implausible > 0 ? "\(HumanFormat.count(implausible)) without a plausible duration" : nil,
    ].compactMap(\.self)
  }

  // MARK: One

  func print(_ details: WorkoutDetails, _ zones: HeartRateZones?) throws {
    let workout = details.summary
    let (start, end) = (zone.text(workout.sample.start), zone.text(workout.sample.end))
    let times = [start, end].map { String($0.dropFirst(11).prefix(5)) }
    let endDay = start.prefix(10) == end.prefix(10) ? "" : "\(end.prefix(10)) "
    try Console.print(
      phrases: [
        Self.name(workout), "\(start.prefix(10)) \(times[0]) to \(endDay)\(times[1])",
        PlainText.escaped(zone.name, limit: 60), PlainText.escaped(workout.sample.source.name, limit: 60),
      ], separator: ", ")
    var words = ["time \(workout.duration.map(Self.time) ?? "-")"]
    if let duration = workout.duration, workout.elapsed > duration + 1 {
      words.append("\(Self.time(workout.elapsed)) with pauses")
    }
    if let text = distance(of: workout) ?? details.routeDistance.flatMap(distance) { words.append("distance \(text)") }
    if let ascent = details.ascent { words.append("ascent \(elevation(ascent))") }
    if let text = energy(of: workout) { words.append("energy \(text)") }
    try Console.print(phrases: words, separator: ", ")
    if let heartRate = details.heartRate {
      let mean = "heart rate \(HumanFormat.number(heartRate.mean.rounded()))"
      let range = [heartRate.minimum, heartRate.maximum].compactMap { $0.map { HumanFormat.number($0.rounded()) } }
      try Console.print(
        phrases: range.count == 2 ? [mean, "from \(range[0]) to \(range[1]) count/min"] : ["\(mean) count/min"],
        separator: ", ")
    }
    try WorkoutParts(details: details, zone: zone, units: units).print()
    if let zones, !details.zones.isEmpty { try print(details.zones, zones) }
    if let track = details.track {
      try print(splitsOf: track)
      try print(track)
    }
  }

  private static let mapHeight = 14
  private static let profileHeight = 5
  /// The metres in a degree of latitude, on a sphere with the earth's mean radius.
  private static let metresADegree = 111_195.08

  private func print(_ track: RouteTrack) throws {
    let places = track.steps.map { TrackPlot.Place(latitude: $0.latitude, longitude: $0.longitude) }
    let profile = track.steps.compactMap { step in step.elevation.map { DotPlot.Point(x: step.distance, y: $0) } }
    let end = distance(track.distance) ?? "-"
    try Console.print(chart: { width, style, usesUTF8 in
      let plot = TrackPlot(places)
      let map = plot.rendered(width: min(width, 60), height: Self.mapHeight, style: style, usesUTF8: usesUTF8)
      guard !map.isEmpty else { return [] }
      let across = distance(plot.width * Self.metresADegree) ?? "-"
      let lines = ["", "Route, north up, \(across) from west to east:"] + map
      guard profile.count > 1 else { return lines }
      return lines + ["", "Elevation:"]
        + DotPlot(profile, isLine: true).rendered(
          width: min(width, 60), height: Self.profileHeight, style: style, usesUTF8: usesUTF8, from: "0", to: end,
          number: elevation)
    })
  }

  private func print(_ durations: [Double], _ zones: HeartRateZones) throws {
    try Console.print("")
    var chart = BarChart()
    for (index, seconds) in durations.enumerated() {
      let label =
        index == 0
        ? "below \(HumanFormat.number(zones.edges[0]))" : "from \(HumanFormat.number(zones.edges[index - 1]))"
      chart.append(label, seconds, Self.time(seconds))
    }
    try print(chart)
  }

  /// Prints the splits of each mile if distances are in miles, else of each kilometre.
  private func print(splitsOf track: RouteTrack) throws {
    let unit = units.distance == "mi" ? "mi" : "km"
    guard let length = UnitConversion.convert(1, from: unit, to: "m") else { return }
    let splits = track.splits(every: length)
    if splits.isEmpty { return }
    try Console.print("")
    var chart = BarChart()
    for (index, seconds) in splits.enumerated() { chart.append("\(unit) \(index + 1)", seconds, Self.time(seconds)) }
    try print(chart)
  }

  private func print(_ chart: BarChart) throws {
    try Console.print(chart: { width, style, usesUTF8 in
      chart.rendered(width: min(width, 60), style: style, usesUTF8: usesUTF8)
    })
  }

  // MARK: Words

  private static func name(_ workout: WorkoutSummary) -> String {
    PlainText.escaped(workout.workout.activityType.displayName, limit: 40)
  }

  private func distance(of workout: WorkoutSummary) -> String? {
    workout.distance.flatMap(distance).map { workout.hasMergedDistance ? "~\($0)" : $0 }
  }

  private func energy(of workout: WorkoutSummary) -> String? {
    workout.energy.flatMap(energy).map { workout.hasMergedEnergy ? "~\($0)" : $0 }
  }

  /// Returns a time such as `42:10` or `1:02:10`; `-` if it is implausible, because a workout may come from any
  /// sender.
  static func time(_ seconds: Double) -> String {
    guard (0..<0x1p40).contains(seconds) else { return "-" }
    let total = Int(seconds.rounded())
    let (minutes, rest) = (total / 60 % 60, total % 60)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return total < 3600 ? "\(minutes):\(two(rest))" : "\(HumanFormat.count(total / 3600)):\(two(minutes)):\(two(rest))"
  }

  func distance(_ metres: Double) -> String? {
    guard (0..<1e12).contains(metres), let value = UnitConversion.convert(metres, from: "m", to: units.distance) else {
      return nil
    }
    // Two decimals in all rows.
    let hundredths = Int((value * 100).rounded())
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    return "\(HumanFormat.count(whole)).\(rest < 10 ? "0" : "")\(rest) \(units.distance)"
  }

  private func elevation(_ metres: Double) -> String {
    let value = UnitConversion.convert(metres, from: "m", to: units.elevation) ?? metres
    return "\(HumanFormat.number(value.rounded())) \(units.elevation)"
  }

  func energy(_ kilocalories: Double) -> String? {
    guard (0..<1e12).contains(kilocalories),
      let value = UnitConversion.convert(kilocalories, from: "kcal", to: units.energy)
    else { return nil }
    return "\(HumanFormat.count(Int(value.rounded()))) \(units.energy)"
  }
}
