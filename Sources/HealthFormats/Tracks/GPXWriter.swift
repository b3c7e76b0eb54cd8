import Foundation
import HealthModel

/// A writer of GPX files (GPX 1.1, `http://www.topografix.com/GPX/1/1`) with routes of workouts as tracks, and heart
/// rates in Garmin's extension (TrackPointExtension v1).
///
/// ```swift
/// func write(_ route: WorkoutRoute, from start: Timestamp) -> [UInt8] {
///   let writer = GPXWriter(exported: start)
///   var bytes: [UInt8] = []
///   writer.begin(into: &bytes)
///   writer.append(route, from: start, named: "Running", heartRates: [], to: &bytes)
///   writer.end(into: &bytes)
///   return bytes
/// }
/// ```
public struct GPXWriter: Sendable {
  private let exported: Timestamp

  /// Creates a writer.
  ///
  /// - Parameter exported: the date of creation to write into the file.
  public init(exported: Timestamp) { self.exported = exported }

  /// A heart rate measured at a point in time.
  public struct HeartRate: Hashable, Sendable {
    public var time: Timestamp
    /// The heart rate in beats per minute. Finite.
    public var value: Double

    public init(time: Timestamp, value: Double) { (self.time, self.value) = (time, value) }
  }

  /// The maximum time between a track point and its heart rate, in microseconds.
  public static let heartRateReach: Int64 = 5_000_000

  public func begin(into bytes: inout [UInt8]) {
    bytes.append(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="hpeer" xmlns="http://www.topografix.com/GPX/1/1" \
      xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v1" \
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
      xsi:schemaLocation="http://www.topografix.com/GPX/1/1 http://www.topografix.com/GPX/1/1/gpx.xsd \
      http://www.garmin.com/xmlschemas/TrackPointExtension/v1 \
      http://www.garmin.com/xmlschemas/TrackPointExtensionv1.xsd">
      <metadata><time>
      """)
    bytes.append(contentsOf: Timestamp(seconds: exported.seconds).iso8601.utf8)
    bytes.append("</time></metadata>\n")
  }

  /// Writes a track of one segment. Points whose coordinates are not on Earth are left out.
  ///
  /// - Parameters:
  ///   - start: the start of the route, which the times of its points are relative to.
  ///   - heartRates: the heart rates, ordered by time.
  /// - Returns: the number of points written. A route without points has no track.
  @discardableResult
  public func append(
    _ route: WorkoutRoute, from start: Timestamp, named name: String, heartRates: [HeartRate],
    to bytes: inout [UInt8]
  ) -> Int {
    let points = route.points.filter { (-90...90).contains($0.latitude) && (-180...180).contains($0.longitude) }
    if points.isEmpty { return 0 }
    bytes.append("<trk><name>")
    XMLOutput.append(escaped: name, to: &bytes)
    bytes.append("</name><trkseg>\n")
    var rates = NearestHeartRate(heartRates)
    for point in points {
      let time = point.time.flatMap { Self.instant(start, after: $0) }
      write(point, time, heartRate: time.flatMap { rates.value(at: $0) }, to: &bytes)
    }
    bytes.append("</trkseg></trk>\n")
    return points.count
  }

  public func end(into bytes: inout [UInt8]) { bytes.append("</gpx>\n") }

  private func write(_ point: RoutePoint, _ time: Timestamp?, heartRate: Int?, to bytes: inout [UInt8]) {
    bytes.append("<trkpt lat=\"")
    Self.append(point.latitude, decimals: 7, to: &bytes)
    bytes.append("\" lon=\"")
    Self.append(point.longitude, decimals: 7, to: &bytes)
    bytes.append("\">")
    // A negative accuracy means that the elevation is invalid (`CLLocation`).
    if let elevation = point.elevation, elevation.magnitude < 1e6, point.verticalAccuracy.map({ $0 >= 0 }) ?? true {
      bytes.append("<ele>")
      Self.append(elevation, decimals: 1, to: &bytes)
      bytes.append("</ele>")
    }
    if let time {
      bytes.append("<time>")
      Timestamp(seconds: time.seconds).append(to: &bytes)
      bytes.append("</time>")
    }
    if let heartRate {
      bytes.append("<extensions><gpxtpx:TrackPointExtension><gpxtpx:hr>")
      Int64(heartRate).append(to: &bytes)
      bytes.append("</gpxtpx:hr></gpxtpx:TrackPointExtension></extensions>")
    }
    bytes.append("</trkpt>\n")
  }

  /// Returns the instant, or `nil` outside the years 1 to 9999, the only ones that all readers of XML Schema dates
  /// accept.
  private static func instant(_ start: Timestamp, after seconds: Double) -> Timestamp? {
    guard seconds.magnitude < 1e12 else { return nil }
    let (sum, overflow) = start.microseconds.addingReportingOverflow(Int64((seconds * 1_000_000).rounded()))
    let instant = Timestamp(microseconds: sum)
    return !overflow && (-62_135_596_800..<253_402_300_800).contains(instant.seconds) ? instant : nil
  }

  /// Appends a number with a fixed number of decimals.
  ///
  /// - Parameter number: a number whose scaled value fits in an `Int64`.
  private static func append(_ number: Double, decimals: Int, to bytes: inout [UInt8]) {
    let scale = (0..<decimals).reduce(Int64(1)) { scale, _ in scale * 10 }
    let scaled = Int64((number * Double(scale)).rounded())
    if scaled < 0 { bytes.append("-") }
    Int64(scaled.magnitude / scale.magnitude).append(to: &bytes)
    bytes.append(".")
    bytes.append(contentsOf: String(scaled.magnitude % scale.magnitude + scale.magnitude).utf8.dropFirst())
  }

  /// A search for the nearest heart rate of each point, which moves along with the times of the points.
  private struct NearestHeartRate {
    private let rates: [HeartRate]
    private var next = 0

    init(_ rates: [HeartRate]) { self.rates = rates.filter { (0..<1000).contains($0.value) } }

    mutating func value(at time: Timestamp) -> Int? {
      // Points of some routes go back in time.
      while next > 0, rates[next - 1].time > time { next -= 1 }
      while next < rates.count, rates[next].time <= time { next += 1 }
      var nearest: (distance: Double, rate: Double)?
      for index in [next - 1, next] where rates.indices.contains(index) {
        let distance = abs(Double(rates[index].time.microseconds) - Double(time.microseconds))
        if nearest.map({ distance < $0.distance }) ?? true { nearest = (distance, rates[index].value) }
      }
      guard let nearest, nearest.distance <= Double(GPXWriter.heartRateReach) else { return nil }
      return Int(nearest.rate.rounded())
    }
  }
}
