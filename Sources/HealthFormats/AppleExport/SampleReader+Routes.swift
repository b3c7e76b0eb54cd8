import HealthModel

/// `WorkoutRoute`: where a workout went, as points in the XML (older exports) or in a GPX file beside it.
extension SampleReader {
  /// A route of more points is divided among several samples, so that each of them can travel.
  static var pointsPerSample: Int { 200_000 }
  /// Points of routes that may share their keys, which are in memory until the end.
  private var maximumHeldPoints: Int { 500_000 }

  static let routeKind = ElementKind.other(name: "WorkoutRoute", identifier: nil)

  /// - Parameter workout: the one that the route is in; what the route does not say is as there.
  mutating func beginRoute(in workout: Draft) -> RouteDraft {
    let attributes = CommonAttributes(scanner)
    var draft: Draft
    if let start = attributes.start, keys.date(decoded(start)) != nil,
      let own = self.draft(Self.routeKind, attributes, called: "WorkoutRoute")
    {
      draft = own
    } else {
      remark("WorkoutRoute without a startDate")
      var sample = workout.sample
      sample.metadata = [:]
      sample.device = attributes.device.flatMap { texts.device($0).device }
      draft = Draft(kind: Self.routeKind, line: scanner.tokenLine(), hash: workout.hash, sample: sample)
      if let name = attributes.source.map({ decoded($0) }) { draft.sample.source = Source(name: name) }
      if let version = attributes.version { draft.sample.source.version = texts.version(version).text }
      for (name, bytes) in [
        ("startDate", attributes.start), ("endDate", attributes.end), ("creationDate", attributes.created),
      ] {
        if let bytes { addUnknown(name, decoded(bytes), of: "WorkoutRoute", to: &draft.metadata) }
      }
    }
    if draft.sample.source.name.isEmpty { draft.sample.source = workout.sample.source }
    draft.sample.type = .workoutRoute
    for index in attributes.others {
      let attribute = scanner.attribute(index)
      addUnknown(decoded(attribute.name), decoded(attribute.value), of: "WorkoutRoute", to: &draft.metadata)
    }
    for (name, bytes) in [("type", attributes.type), ("value", attributes.value), ("unit", attributes.unit)] {
      if let bytes { addUnknown(name, decoded(bytes), of: "WorkoutRoute", to: &draft.metadata) }
    }
    return RouteDraft(draft: draft)
  }

  /// A point of a route, as exports up to iOS 11 have them. False, and nothing read, for one that is not understood.
  ///
  /// - Parameter route: its index in ``routes``.
  mutating func readLocation(into route: Int) -> Bool {
    leafPlace = nil
    var values: [String: Bytes] = [:]
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      values[texts.key(attribute.name).text] = attribute.value
    }
    func take(_ name: String) -> Double? {
      guard let bytes = values[name], let number = DecimalReader.read(bytes) else { return nil }
      values[name] = nil
      return number.value
    }
    guard let latitude = take("latitude"), let longitude = take("longitude") else { return false }
    var point = RoutePoint(
      latitude: latitude, longitude: longitude, elevation: take("altitude"), speed: take("speed"),
      course: take("course"), horizontalAccuracy: take("horizontalAccuracy"),
      verticalAccuracy: take("verticalAccuracy"))
    if let bytes = values["date"], let date = keys.date(decoded(bytes)) {
      values["date"] = nil
      let (difference, overflow) = date.microseconds.subtractingReportingOverflow(
        routes[route].draft.sample.start.microseconds)
      if !overflow { point.time = Double(difference) / 1_000_000 }
    }
    guard values.isEmpty, routes[route].points.count < GPXReader.maximumPoints else { return false }
    routes[route].points.append(point)
    return true
  }

  /// The routes of a workout that is whole, one after the other.
  mutating func finishRoutes(_ elements: [RawElement], of workout: SampleReference, isSuspect: Bool) throws {
    var seen: [UInt64: Int] = [:]
    for route in routes { seen[route.draft.hash, default: 0] += 1 }
    for element in elements {
      guard let index = element.route else { continue }
      var route = routes[index]
      // One at a time in memory.
      routes[index].points = []
      noticeLine = element.line
      var references: [(path: String, line: Int)] = []
      for child in element.children {
        switch child.name {
        case "MetadataEntry":
          if let entry = entry(child, keepingIn: &route.draft.metadata) { route.draft.metadata.append(entry) }
        case "FileReference": readFileReference(child, into: &references, &route.draft)
        default: keep(child, of: "WorkoutRoute", in: &route.draft.metadata)
        }
      }
      for (path, line) in references {
        noticeLine = line
        guard let track = track(path, of: route.draft.sample) else { continue }
        keepHeader(of: track, in: &route.draft.metadata)
        let room = GPXReader.maximumPoints - route.points.count
        if track.points.count > room { remark("WorkoutRoute with more than a million points") }
        route.points += track.points.prefix(room)
      }
      complete(&route.draft)
      report.elements["WorkoutRoute", default: 0] += 1
      let isOpen = self.isSuspect(route.draft) || isSuspect || seen[route.draft.hash] ?? 0 > 1
      let paths = references.map(\.path)
      let whole = WorkoutRoute(
        workout: workout, path: paths.isEmpty ? nil : paths.joined(separator: "\n"), points: route.points)
      route.points = []
      try emit(whole, in: route.draft.sample, kind: Self.routeKind, isSuspect: isOpen)
    }
  }

  private mutating func readFileReference(
    _ element: RawElement, into references: inout [(path: String, line: Int)], _ draft: inout Draft
  ) {
    noticeLine = element.line
    var attributes = element.attributes
    guard let path = attributes.take("path") else {
      return keep(element, of: "WorkoutRoute", in: &draft.metadata)
    }
    if references.contains(where: { $0.path == path }) { return }
    // Each is a file to be read.
    guard references.count < 100 else { return keep(element, of: "WorkoutRoute", in: &draft.metadata) }
    references.append((path, element.line))
    let place = Self.place("FileReference", references.count)
    keepRest(of: attributes, of: "FileReference", prefix: "\(place).", in: &draft.metadata)
    for child in element.children { keep(child, of: "FileReference", at: place, in: &draft.metadata) }
  }

  /// The points of a file; `nil`, and remarked, where there are none to be had, and where they are another route's.
  private mutating func track(_ path: String, of route: Sample) -> GPXReader.Track? {
    guard let member = sideFiles.member(path) else {
      remark("WorkoutRoute whose file is missing")
      return nil
    }
    guard let track = reading(member, { source in try GPXReader(source: source, start: route.start).run() })
    else { return nil }
    remark(track.problems, in: member)
    let interval = RouteClaims.Interval(start: route.start, end: route.end)
    guard routeClaims.gives(path, to: interval, times: track.times) else {
      remark("WorkoutRoute of \(route.start.iso8601) whose file is missing: \(member.name) is another's")
      return nil
    }
    return track
  }

  private mutating func remark(_ problems: [String: ImportReport.Finding], in member: ExportMember) {
    for (problem, finding) in problems.sorted(by: { $0.key < $1.key }) {
      report.remarks.add("\(member.name): \(problem)", finding)
    }
  }

  private mutating func reading(
    _ member: ExportMember, _ body: (any ByteSource) throws -> GPXReader.Track
  ) -> GPXReader.Track? {
    do {
      return try body(try sideFiles.source(of: member, limit: GPXReader.maximumBytes))
    } catch {
      remark("\(member.name): \(SideFiles.reason(error))", .nowhere)
      return nil
    }
  }

  private func keepHeader(of track: GPXReader.Track, in metadata: inout [(key: String, value: String)]) {
    if let name = track.name { metadata.append(("hpeer.gpx.name", name)) }
    // Apple's own is in every file.
    if let creator = track.creator, creator != "Apple Health Export" { metadata.append(("hpeer.gpx.creator", creator)) }
  }

  /// Emits a route in parts that can travel. One without points has an identity of its own, so that its points are not
  /// missed when a later import has them.
  private mutating func emit(_ route: WorkoutRoute, in sample: Sample, kind: ElementKind, isSuspect: Bool) throws {
    guard case .other(let name, _) = kind else { return }
    var sample = sample
    if route.points.isEmpty {
      sample.payload = .workoutRoute(route)
      try emit(sample, kind: .other(name: name, identifier: "empty"), isSuspect: isSuspect)
      return
    }
    if isSuspect {
      heldPoints += route.points.count
      guard heldPoints <= maximumHeldPoints else {
        return skip("WorkoutRoute: more routes with equal dates than can be told apart")
      }
    }
    var part = 1
    for start in stride(from: 0, to: route.points.count, by: Self.pointsPerSample) {
      let points = route.points[start..<min(start + Self.pointsPerSample, route.points.count)]
      sample.payload = .workoutRoute(WorkoutRoute(workout: route.workout, path: route.path, points: Array(points)))
      let kind = part == 1 ? kind : .other(name: name, identifier: "part \(part)")
      try emit(sample, kind: kind, isSuspect: isSuspect)
      part += 1
    }
  }

  // MARK: Tracks that no workout names

  /// GPX files that no workout has named become routes of their own. Those without any time are dated at the export.
  mutating func readOtherTracks(_ progress: () throws -> Void, into queue: BatchQueue<ReadBatch>) throws {
    let members = sideFiles.unread(in: "workout-routes", ending: ".gpx")
    guard report.isComplete else {
      // Their workouts may be in the part that is missing.
      if !members.isEmpty { remark("GPX files that the part of the XML that is there does not name", .nowhere) }
      return
    }
    // Files are read twice rather than kept in memory: the first time for their keys.
    var keys: [String: Int] = [:]
    func key(_ sample: Sample) -> String { "\(sample.source.name)\u{1F}\(sample.start)\u{1F}\(sample.end)" }
    for member in members {
      try progress()
      guard let track = reading(member, { source in try GPXReader(source: source).run() }) else { continue }
      keys[key(sample(of: track, member)), default: 0] += 1
    }
    for member in members where !keys.isEmpty {
      try progress()
      guard let source = try? sideFiles.source(of: member, limit: GPXReader.maximumBytes),
        let track = try? GPXReader(source: source).run()
      else { continue }
      remark(track.problems, in: member)
      if track.points.isEmpty {
        remark("\(member.name): it has no points", .nowhere)
        continue
      }
      remark("GPX file that no workout names", .nowhere)
      report.elements["WorkoutRoute", default: 0] += 1
      var sample = sample(of: track, member)
      var entries: [(key: String, value: String)] = []
      if let name = track.name { entries.append(("hpeer.gpx.name", name)) }
      sample.metadata = metadata(entries)
      try emit(
        WorkoutRoute(path: "/\(member.name)", points: track.points), in: sample,
        kind: .other(name: "GPX", identifier: nil), isSuspect: keys[key(sample)] ?? 0 > 1)
      try sendIfDue(to: queue)
    }
  }

  private func sample(of track: GPXReader.Track, _ member: ExportMember) -> Sample {
    let start = track.start ?? report.exportDate ?? Timestamp(seconds: 0)
    return Sample(
      uuid: Self.noIdentity, type: .workoutRoute, start: start, end: track.end ?? start,
      source: Source(name: track.creator ?? ""), payload: .workoutRoute(WorkoutRoute()))
  }
}
