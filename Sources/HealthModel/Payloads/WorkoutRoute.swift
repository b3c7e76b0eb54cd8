/// The route of a workout (`HKWorkoutRoute`). Its start and end are the sample's.
public struct WorkoutRoute: Hashable, Sendable {
  /// The workout of the route, or `nil` for a track that no workout refers to.
  public var workout: SampleReference?
  /// The path of the GPX file in Apple's export: `/workout-routes/route_2019-09-24_1.07pm.gpx`.
  public var path: String?
  /// The points in the order of the source, empty if they were not available.
  public var points: [RoutePoint]

  /// Creates a route.
  ///
  /// - Parameter points: neither sorted nor validated.
  public init(workout: SampleReference? = nil, path: String? = nil, points: [RoutePoint] = []) {
    self.workout = workout
    self.path = path
    self.points = points
  }
}

/// A position on a route (`CLLocation`).
public struct RoutePoint: Hashable, Sendable {
  /// The seconds since the sample's start, or `nil` for a point without a time.
  public var time: Double?
  /// The latitude in degrees (WGS 84).
  public var latitude: Double
  /// The longitude in degrees (WGS 84).
  public var longitude: Double
  /// The elevation in metres above sea level, or `nil` if the source does not give it.
  public var elevation: Double?
  /// The speed in metres per second, negative if unknown to the device, or `nil` if the source does not give it.
  public var speed: Double?
  /// The course in degrees clockwise from north, negative if unknown to the device, or `nil` if the source does not
  /// give it.
  public var course: Double?
  /// The radius of uncertainty in metres (`CLLocation`), or `nil` if the source does not give it.
  public var horizontalAccuracy: Double?
  /// The uncertainty of ``elevation`` in metres, or `nil` if the source does not give it.
  public var verticalAccuracy: Double?

  /// Creates a point. `nil` means that the source gives no value. Ranges are not validated.
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
