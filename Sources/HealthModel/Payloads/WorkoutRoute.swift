/// Where a workout went (`HKWorkoutRoute`). Its start and end are the sample's.
public struct WorkoutRoute: Hashable, Sendable {
  /// `nil` for a track that no workout names.
  public var workout: SampleReference?
  /// The file that Apple's export keeps the points in, as it names it: `/workout-routes/route_2019-09-24_1.07pm.gpx`.
  public var path: String?
  /// In the order of the source; empty where the points were not to be had.
  public var points: [RoutePoint]

  /// - Parameter points: neither sorted nor checked here.
  public init(workout: SampleReference? = nil, path: String? = nil, points: [RoutePoint] = []) {
    self.workout = workout
    self.path = path
    self.points = points
  }
}

/// One position of a route (`CLLocation`).
public struct RoutePoint: Hashable, Sendable {
  /// Seconds since the sample's start; `nil` for a point without a time.
  public var time: Double?
  /// Degrees, WGS 84.
  public var latitude: Double
  /// Degrees, WGS 84.
  public var longitude: Double
  /// Metres above sea level; `nil` where the source did not say.
  public var elevation: Double?
  /// Metres per second; negative where it was not known.
  public var speed: Double?
  /// Degrees clockwise from north; negative where it was not known.
  public var course: Double?
  /// Radius of uncertainty in metres (`CLLocation`); `nil` where the source did not say.
  public var horizontalAccuracy: Double?
  /// Uncertainty of ``elevation`` in metres; `nil` where the source did not say.
  public var verticalAccuracy: Double?

  /// `nil` stands for what the source did not say. Ranges are not checked.
  public init(
    time: Double? = nil, latitude: Double, longitude: Double, elevation: Double? = nil, speed: Double? = nil,
    course: Double? = nil, horizontalAccuracy: Double? = nil, verticalAccuracy: Double? = nil
  ) {
    self.time = time
    self.latitude = latitude
    self.longitude = longitude
    self.elevation = elevation
    self.speed = speed
    self.course = course
    self.horizontalAccuracy = horizontalAccuracy
    self.verticalAccuracy = verticalAccuracy
  }
}
