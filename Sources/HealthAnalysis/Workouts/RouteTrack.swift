import Foundation
import HealthModel

/// The distance, splits and ascent of a route.
///
/// ```swift
/// let route = [RoutePoint(time: 0, latitude: 52.50, longitude: 13.40), RoutePoint(time: 300, latitude: 52.51, longitude: 13.40)]
/// let track = RouteTrack(route)
/// print(track.distance)             // 1111.951 m
/// print(track.splits(every: 1000))  // 269.8 s for the first kilometre
/// ```
public struct RouteTrack: Hashable, Sendable {
  /// The mean radius of the earth in metres (IUGG, R1).
  private static let radius = 6_371_008.8
  /// The maximum horizontal accuracy in metres. Less accurate points are ignored.
  private static let worstAccuracy = 50.0
  /// The minimum rise in metres. Smaller rises are treated as noise.
  private static let leastRise = 2.0

  /// The maximum number of splits, because the points of a hostile file may lie on opposite sides of the earth.
  public static let mostSplits = 10_000

  /// A sufficiently accurate point of the route.
  public struct Step: Hashable, Sendable {
    /// The latitude in degrees.
    public var latitude: Double
    public var longitude: Double
    /// The elevation in metres, or `nil` if unknown.
    public var elevation: Double?
    /// The distance from the start in metres.
    public var distance: Double
    /// The seconds since the route's start, or `nil` if unknown.
    public var time: Double?
  }

  /// The points in order.
  public let steps: [Step]
  private let elevations: [Double]

  /// Creates a track.
  ///
  /// - Parameter points: in order. Points with a horizontal accuracy that is negative or above 50 m, or with invalid
  ///   coordinates, are left out.
  public init(_ points: [RoutePoint]) {
    let known = points.filter { point in
      abs(point.latitude) <= 90 && abs(point.longitude) <= 180
        && point.horizontalAccuracy.map { $0 >= 0 && $0 <= Self.worstAccuracy } ?? true
    }
    var distance = 0.0
    var steps: [Step] = []
    for (index, point) in known.enumerated() {
      if index > 0 { distance += Self.distance(from: known[index - 1], to: point) }
      steps.append(
        Step(
          latitude: point.latitude, longitude: point.longitude,
          elevation: point.elevation.flatMap { $0.isFinite ? $0 : nil }, distance: distance,
          time: point.time.flatMap { $0.isFinite ? $0 : nil }))
    }
    self.steps = steps
    elevations = known.compactMap(\.elevation).filter(\.isFinite)
  }

  /// The length of the route in metres.
  public var distance: Double { steps.last?.distance ?? 0 }

  /// Returns the great-circle distance between two points in metres, by the haversine formula.
  public static func distance(from one: RoutePoint, to other: RoutePoint) -> Double {
    let radians = Double.pi / 180
    let latitude = (other.latitude - one.latitude) * radians
    let longitude = (other.longitude - one.longitude) * radians
    let half =
      pow(sin(latitude / 2), 2)
      + cos(one.latitude * radians) * cos(other.latitude * radians) * pow(sin(longitude / 2), 2)
    return 2 * radius * asin(min(1, sqrt(half)))
  }

  /// Returns the seconds for each complete split of the given length, at most ``mostSplits``. Times at split
  /// boundaries are interpolated between points. The incomplete rest is left out, and counting stops at the first
  /// point without a time.
  ///
  /// - Parameter length: in metres; greater than 0.
  public func splits(every length: Double) -> [Double] {
    guard length > 0, var last = steps.first?.time else { return [] }
    var splits: [Double] = []
    var before = last
    for (step, next) in zip(steps, steps.dropFirst()) {
      guard let time = next.time, splits.count < Self.mostSplits else { break }
      while next.distance > step.distance, splits.count < Self.mostSplits,
        length * Double(splits.count + 1) <= next.distance
      {
        let share = (length * Double(splits.count + 1) - step.distance) / (next.distance - step.distance)
        let passed = before + (time - before) * share
        splits.append(passed - last)
        last = passed
      }
      before = time
    }
    return splits
  }

  /// The total ascent in metres: the sum of rises of more than 2 m, after a median filter of five points removes
  /// noise.
  public var ascent: Double? {
    guard elevations.count > 1 else { return nil }
    let smooth = elevations.indices.map { index in
      let around = elevations[max(0, index - 2)...min(elevations.count - 1, index + 2)].sorted()
      return around[around.count / 2]
    }
    var (ascent, lowest) = (0.0, smooth[0])
    for elevation in smooth {
      if elevation < lowest {
        lowest = elevation
      } else if elevation - lowest > Self.leastRise {
        ascent += elevation - lowest
        lowest = elevation
      }
    }
    return ascent
  }
}
