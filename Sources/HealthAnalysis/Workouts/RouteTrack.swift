import Foundation
import HealthModel

/// How far a route goes, how fast, and how much of it uphill.
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
  /// Points of which less is known are left out: metres.
  private static let worstAccuracy = 50.0
  /// Less of a rise is noise: metres.
  private static let leastRise = 2.0

  /// The most stretches that ``splits(every:)`` returns. Points of a hostile file may lie on opposite sides of the earth.
  public static let mostSplits = 10_000

  /// One point of it that is known well enough.
  public struct Step: Hashable, Sendable {
    /// In degrees.
    public var latitude: Double
    public var longitude: Double
    /// In metres; `nil` where it is not known.
    public var elevation: Double?
    /// From the start, in metres.
    public var distance: Double
    /// Seconds since the route's start; `nil` where it is not known.
    public var time: Double?
  }

  /// In their order.
  public let steps: [Step]
  private let elevations: [Double]

  /// - Parameter points: in their order; those whose horizontal accuracy is negative or above 50 m, and those that are no place on
  ///   earth, are left out.
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

  /// In metres.
  public var distance: Double { steps.last?.distance ?? 0 }

  /// The great circle between two points in metres, by the haversine formula.
  public static func distance(from one: RoutePoint, to other: RoutePoint) -> Double {
    let radians = Double.pi / 180
    let latitude = (other.latitude - one.latitude) * radians
    let longitude = (other.longitude - one.longitude) * radians
    let half =
      pow(sin(latitude / 2), 2)
      + cos(one.latitude * radians) * cos(other.latitude * radians) * pow(sin(longitude / 2), 2)
    return 2 * radius * asin(min(1, sqrt(half)))
  }

  /// The seconds that each whole stretch of a length took, the time at its end being between those of two points; without
  /// the rest, and up to the first point that has no time. At most ``mostSplits``.
  ///
  /// - Parameter length: in metres; more than 0.
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

  /// The metres that it goes up, after noise was taken out by a median of five points: rises of more than 2 m.
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
