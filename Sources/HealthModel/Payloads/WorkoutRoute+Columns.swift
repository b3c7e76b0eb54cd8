// The points are encoded as columns: an array of numbers for each field, all of the same length. `null` stands for a
// value that a point lacks. A column without any values is left out.

extension WorkoutRoute: ColumnPayload {
  package static let kind = "workoutRoute"
  package static let isUniqueAtItsTime = true
  package var payload: Payload { .workoutRoute(self) }
  package var size: Int { 112 * (points.count + 4) }

  package static let columnNames = [
    "course", "elevation", "horizontalAccuracy", "latitude", "longitude", "speed", "time", "verticalAccuracy",
  ]

  /// A route without its columns.
  package struct Head: Codable {
    var workout: SampleReference?
    var path: String?

    init(workout: SampleReference?, path: String?) {
      self.workout = workout
      self.path = path
    }

    package init(from decoder: any Decoder) throws {
      let object = try decoder.strictContainer(["workout", "path"])
      workout = try object.decodeIfPresent(SampleReference.self, forKey: "workout")
      path = try object.decodeIfPresent(String.self, forKey: "path")
    }
  }

  package var head: Head { Head(workout: workout, path: path) }

  /// Returns a column, or `nil` if no point has a value for it.
  package func column(_ name: String) -> [Double?]? {
    let column: [Double?] =
      switch name {
      case "course": points.map(\.course)
      case "elevation": points.map(\.elevation)
      case "horizontalAccuracy": points.map(\.horizontalAccuracy)
      case "latitude": points.map(\.latitude)
      case "longitude": points.map(\.longitude)
      case "speed": points.map(\.speed)
      case "time": points.map(\.time)
      case "verticalAccuracy": points.map(\.verticalAccuracy)
      default: []
      }
    return column.contains { $0 != nil } ? column : nil
  }

  package init?(_ head: Head, columns: [String: [Double?]]) {
    let count = columns["latitude"]?.count ?? 0
    guard columns.values.allSatisfy({ $0.count == count }) else { return nil }
    self.init(workout: head.workout, path: head.path)
    guard let latitude = columns["latitude"], let longitude = columns["longitude"] else {
      if columns.isEmpty { return }
      return nil
    }
    let (time, elevation, speed) = (columns["time"], columns["elevation"], columns["speed"])
    let (course, horizontal) = (columns["course"], columns["horizontalAccuracy"])
    let vertical = columns["verticalAccuracy"]
    points.reserveCapacity(count)
    for index in 0..<count {
      guard let north = latitude[index], let east = longitude[index] else { return nil }
      points.append(
        RoutePoint(
          time: time?[index], latitude: north, longitude: east, elevation: elevation?[index], speed: speed?[index],
          course: course?[index], horizontalAccuracy: horizontal?[index], verticalAccuracy: vertical?[index]))
    }
  }
}

extension WorkoutRoute {
  /// The points alone, because file names may differ between exports.
  package var measured: WorkoutRoute { WorkoutRoute(points: points) }

  package func write(to form: inout CanonicalForm) {
    form.object { form in
      for name in (Self.columnNames + ["path", "workout"]).sorted() {
        switch name {
        case "path": form.member(name, path)
        case "workout": form.member(name, workout) { $0.write($1) }
        default: form.member(name, column(name)) { $0.write($1) }
        }
      }
    }
  }
}

extension WorkoutRoute: SideFilePayload {
  package var hasFile: Bool { !points.isEmpty }

  /// Returns the other key kind of the first part of a route. Further parts of a long route have no other identity.
  package func otherKeyKind(_ kind: String) -> String? {
    let (bare, whole) = ("WorkoutRoute:empty", "WorkoutRoute")
    return kind == (hasFile ? whole : bare) ? (hasFile ? bare : whole) : nil
  }

  package static let sideFilePaths = SideFilePaths(link: "$.workout", content: "$.latitude", path: "$.path")

  /// Returns a route with a point. The link is not part of a route's key.
  package static func withFile(link: String?) -> (content: WorkoutRoute, keyKind: String) {
    (WorkoutRoute(points: [RoutePoint(latitude: 0, longitude: 0)]), "WorkoutRoute")
  }
}

extension WorkoutRoute: Codable {
  public init(from decoder: any Decoder) throws {
    let object = try decoder.strictContainer(Set(Self.columnNames + ["workout", "path"]))
    let head = Head(
      workout: try object.decodeIfPresent(SampleReference.self, forKey: "workout"),
      path: try object.decodeIfPresent(String.self, forKey: "path"))
    var columns: [String: [Double?]] = [:]
    for name in Self.columnNames {
      columns[name] = try object.decodeIfPresent([JSONNumber?].self, forKey: .init(name))?.map(\.?.value)
    }
    guard let route = Self(head, columns: columns) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: object.codingPath, debugDescription: "columns of different lengths"))
    }
    self = route
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: OpenKey.self)
    try object.encodeIfPresent(workout, forKey: "workout")
    try object.encodeIfPresent(path, forKey: "path")
    for name in Self.columnNames {
      try object.encodeIfPresent(column(name)?.map { $0.map(JSONNumber.init) }, forKey: .init(name))
    }
  }
}
