import HealthModel

/// The handler of `WorkoutRoute` elements, whose points are in the XML (older exports) or in a GPX file beside it.
struct RouteHandler {
  /// A route whose GPX files have not been read yet.
  private struct Route {
    var draft: Draft
    /// The points from the XML. Their times are seconds after the start of ``draft``.
    var points: [RoutePoint] = []
  }

  /// The claims on files that several routes name.
  private let claims: RouteClaims
  /// The routes of the open workout.
  private var routes: [Route] = []
  /// The number of points in all of them.
  private var pointCount = 0
  var parts = RouteParts()
  /// The number of times that each file was read: once for each route that names it.
  private var reads: [String: Int] = [:]
  /// The maximum number of times that a file is read. Apple gives routes of one minute the same file.
  private static let mostReads = 20

  init(claims: RouteClaims) { self.claims = claims }

  mutating func removeAll() { (routes, pointCount) = ([], 0) }

  /// Reads the attributes of a route.
  ///
  /// - Parameter workout: the workout that contains the route. Provides the attributes that the route lacks.
  /// - Returns: the index of the route among those of its workout.
  mutating func begin(in workout: Draft, _ context: inout ReadingContext) -> Int {
    let attributes = CommonAttributes(context.scanner)
    var draft: Draft
    if let start = attributes.start, context.keys.date(context.decoded(start)) != nil,
      let own = Draft(.workoutRoute, attributes, called: "WorkoutRoute", &context)
    {
      draft = own
    } else {
      draft = Self.undated(in: workout, attributes, &context)
    }
    if draft.sample.source.name.isEmpty { draft.sample.source = workout.sample.source }
    draft.sample.type = .workoutRoute
    for index in attributes.others {
      let (name, value) = context.decodedAttribute(index)
      draft.metadata.keep(attribute: name, value, of: "WorkoutRoute", &context)
    }
    for (name, bytes) in [("type", attributes.type), ("value", attributes.value), ("unit", attributes.unit)] {
      if let bytes { draft.metadata.keep(attribute: name, context.decoded(bytes), of: "WorkoutRoute", &context) }
    }
    routes.append(Route(draft: draft))
    return routes.count - 1
  }

  private static func undated(
    in workout: Draft, _ attributes: CommonAttributes, _ context: inout ReadingContext
  ) -> Draft {
    context.remark("WorkoutRoute without a startDate")
    var sample = workout.sample
    sample.metadata = [:]
    sample.device = attributes.device.flatMap { context.texts.device($0).device }
    var draft = Draft(
      kind: .workoutRoute, line: context.scanner.tokenLine(), offset: context.scanner.tokenOffset,
      hash: workout.hash, sample: sample)
    if let name = attributes.source.map({ context.decoded($0) }) { draft.sample.source = Source(name: name) }
    if let version = attributes.version { draft.sample.source.version = context.texts.version(version).text }
    for (name, bytes) in [
      ("startDate", attributes.start), ("endDate", attributes.end), ("creationDate", attributes.created),
    ] {
      if let bytes { draft.metadata.keep(attribute: name, context.decoded(bytes), of: "WorkoutRoute", &context) }
    }
    return draft
  }

  /// Reads a point of a route, as in exports up to iOS 11. Returns false, without adding a point, if the point has
  /// missing or unknown attributes.
  ///
  /// - Parameter route: the index of the route.
  mutating func readLocation(into route: Int, _ context: inout ReadingContext) -> Bool {
    var values: [String: Bytes] = [:]
    for index in 0..<context.scanner.attributeCount {
      let attribute = context.scanner.attribute(index)
      values[context.texts.key(attribute.name).text] = attribute.value
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
    if let bytes = values["date"], let date = context.keys.date(context.decoded(bytes)) {
      values["date"] = nil
      let (difference, overflow) = date.microseconds.subtractingReportingOverflow(
        routes[route].draft.sample.start.microseconds)
      if !overflow { point.time = Double(difference) / 1_000_000 }
    }
    guard values.isEmpty, pointCount < GPXReader.maximumPoints else { return false }
    pointCount += 1
    routes[route].points.append(point)
    return true
  }

  // MARK: Whole routes

  /// Delivers the routes of a complete workout, one after the other.
  ///
  /// - Parameters:
  ///   - elements: the children of the workout.
  ///   - hash: the hash of the workout's key. If another workout may have the same key, the routes are held back and
  ///     ranked.
  mutating func finish(
    _ elements: [RawElement], of workout: SampleReference, _ hash: UInt64, _ context: inout ReadingContext
  ) throws {
    let isWorkoutShared = context.delivery.identities.isShared(hash)
    var keys = SharedKeys<UInt64>()
    for route in routes { keys.add(route.draft.hash) }
    for element in elements {
      guard let index = element.route else { continue }
      var route = routes[index]
      // Free the memory of each route once it is done.
      routes[index].points = []
      let path = readChildren(of: element, into: &route, &context)
      route.draft.complete(&context)
      route.draft.sample.payload = .workoutRoute(WorkoutRoute(path: path))
      guard try context.takes(route.draft) else { continue }
      context.report.elements["WorkoutRoute", default: 0] += 1
      let hash = route.draft.hash
      let isShared = isWorkoutShared || keys.isShared(hash) || context.delivery.identities.isShared(hash)
      let whole = WorkoutRoute(workout: workout, path: path, points: route.points)
      route.points = []
      try parts.add(whole, of: route.draft.sample, as: .workoutRoute, isShared: isShared, &context)
    }
  }

  /// Reads the children of a route and the files that it names.
  ///
  /// - Returns: the paths of the files, one a line; `nil` if it names none.
  private mutating func readChildren(
    of element: RawElement, into route: inout Route, _ context: inout ReadingContext
  ) -> String? {
    context.noticeLine = element.line
    var references: [(path: String, line: Int)] = []
    for child in element.children {
      switch child.name {
      case "MetadataEntry": route.draft.metadata.read(child, &context)
      case "FileReference": readFileReference(child, into: &references, &route.draft.metadata, &context)
      default: route.draft.metadata.keep(child, of: "WorkoutRoute", &context)
      }
    }
    for (path, line) in references {
      context.noticeLine = line
      guard let track = track(path, of: route.draft.sample, &context) else { continue }
      keepHeader(of: track, in: &route.draft.metadata)
      let room = GPXReader.maximumPoints - route.points.count
      if track.points.count > room { context.remark("WorkoutRoute with more than a million points") }
      route.points += track.points.prefix(room)
    }
    return references.isEmpty ? nil : references.map(\.path).joined(separator: "\n")
  }

  private func readFileReference(
    _ element: RawElement, into references: inout [(path: String, line: Int)], _ entries: inout MetadataEntries,
    _ context: inout ReadingContext
  ) {
    context.noticeLine = element.line
    var attributes = element.attributes
    guard let path = attributes.take("path") else {
      return entries.keep(element, of: "WorkoutRoute", &context)
    }
    if references.contains(where: { $0.path == path }) { return }
    // Each reference is a file to be read, so their number is limited.
    guard references.count < 100 else { return entries.keep(element, of: "WorkoutRoute", &context) }
    references.append((path, element.line))
    let place = PreservedKey.place("FileReference", references.count)
    entries.keep(rest: attributes, of: "FileReference", prefix: "\(place).", &context)
    for child in element.children { entries.keep(child, of: "FileReference", at: place, &context) }
  }

  /// Returns the track in a file. Returns `nil`, and adds a remark, if the file cannot be read or belongs to another
  /// route.
  private mutating func track(_ path: String, of route: Sample, _ context: inout ReadingContext) -> GPXReader.Track? {
    guard let member = context.sideFiles.member(path) else {
      context.remark("WorkoutRoute whose file is missing")
      return nil
    }
    guard reads[member.name, default: 0] < Self.mostReads else {
      context.remark("WorkoutRoute whose file more than \(Self.mostReads) routes name")
      return nil
    }
    reads[member.name, default: 0] += 1
    guard let track = TrackHandler.track(in: member, start: route.start, &context) else { return nil }
    context.remark(track.problems, in: member)
    let interval = RouteClaims.Interval(start: route.start, end: route.end)
    guard claims.gives(path, to: interval, times: track.times) else {
      context.remark("WorkoutRoute of \(route.start.iso8601) whose file is missing: \(member.name) is another's")
      return nil
    }
    return track
  }

  private func keepHeader(of track: GPXReader.Track, in entries: inout MetadataEntries) {
    if let name = track.name { entries.append("hpeer.gpx.name", name) }
    // Apple's own creator is the default and need not be kept.
    if let creator = track.creator, creator != "Apple Health Export" { entries.append("hpeer.gpx.creator", creator) }
  }
}

/// A splitter that divides routes into samples small enough to transfer.
struct RouteParts {
  /// The maximum number of points in a sample. A longer route is split into several samples.
  static let pointsPerSample = 200_000
  /// The maximum number of points of routes that may share their keys. They stay in memory until the end of the file.
  private static let maximumHeldPoints = 500_000

  private var heldPoints = 0

  /// Adds a route, split into parts if necessary.
  ///
  /// - Parameters:
  ///   - sample: the sample without its payload, the same for all parts.
  ///   - isShared: whether another sample may have the same key.
  mutating func add(
    _ route: WorkoutRoute, of sample: Sample, as kind: ElementKind, isShared: Bool, _ context: inout ReadingContext
  ) throws {
    var sample = sample
    if route.points.isEmpty {
      sample.payload = .workoutRoute(route)
      try context.delivery.add(sample, as: kind.withoutPoints, isShared: isShared)
      return
    }
    if isShared {
      heldPoints += route.points.count
      guard heldPoints <= Self.maximumHeldPoints else {
        return context.skip("WorkoutRoute: more routes with equal dates than can be told apart")
      }
    }
    var part = 1
    for start in stride(from: 0, to: route.points.count, by: Self.pointsPerSample) {
      let points = route.points[start..<min(start + Self.pointsPerSample, route.points.count)]
      sample.payload = .workoutRoute(WorkoutRoute(workout: route.workout, path: route.path, points: Array(points)))
      try context.delivery.add(sample, as: kind.part(part), isShared: isShared)
      part += 1
    }
  }
}
