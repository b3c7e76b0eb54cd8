import Foundation

/// A plot of a track over the ground, with north at the top.
///
/// ```swift
/// let plot = TrackPlot([.init(latitude: 52.50, longitude: 13.40), .init(latitude: 52.51, longitude: 13.42)])
/// try OutputWriter.standardOutput.writeLines(plot.rendered(width: 40, height: 12))
/// ```
public struct TrackPlot: Sendable {
  /// A place on earth, in degrees.
  public struct Place: Hashable, Sendable {
    public var latitude: Double
    public var longitude: Double

    public init(latitude: Double, longitude: Double) {
      (self.latitude, self.longitude) = (latitude, longitude)
    }
  }

  /// The places relative to the first one: to the east and to the north, in degrees of latitude.
  private var points: [(x: Double, y: Double)] = []

  /// Creates a plot.
  ///
  /// - Parameter places: The places in order. Those with impossible coordinates are left out.
  public init(_ places: [Place]) {
    let known = places.filter { abs($0.latitude) <= 90 && abs($0.longitude) <= 180 }
    guard let first = known.first else { return }
    let scale = cos(first.latitude * .pi / 180)
    points = known.map { place in
      // A track that crosses the date line continues.
      let east = (place.longitude - first.longitude).remainder(dividingBy: 360)
      return (x: east * scale, y: place.latitude - first.latitude)
    }
  }

  /// The distance from the west end to the east end, in degrees of latitude; 0 without a track.
  public var width: Double { (points.map(\.x).max() ?? 0) - (points.map(\.x).min() ?? 0) }

  /// Returns at most `height` lines of text; none without a track.
  public func rendered(width: Int, height: Int, style: Style = .plain, usesUTF8: Bool = true) -> [String] {
    guard points.count > 1, let left = points.map(\.x).min(), let right = points.map(\.x).max(),
      let bottom = points.map(\.y).min(), let top = points.map(\.y).max()
    else { return [] }
    let full = DotCanvas(columns: width, rows: height, usesUTF8: usesUTF8)
    let (wide, high) = (max(right - left, 1e-9), max(top - bottom, 1e-9))
    // Dots per degree across. Dots are higher than wide, so there are fewer of them per degree down.
    let scale = min(Double(full.width - 1) / wide, Double(full.height - 1) * full.aspect / high)
    let rows = Int((high * scale / full.aspect / Double(usesUTF8 ? 4 : 1)).rounded(.up)) + 1
    var canvas = DotCanvas(columns: width, rows: min(height, rows), usesUTF8: usesUTF8)
    let dots = points.map { point in
      (
        x: Int(((point.x - left) * scale).rounded()),
        y: Int(((top - point.y) * scale / canvas.aspect).rounded())
      )
    }
    for (one, other) in zip(dots, dots.dropFirst()) { canvas.line(from: one, to: other) }
    let lines = canvas.lines()
    let last = lines.lastIndex { !$0.isEmpty } ?? 0
    return lines[...last].map(style.green)
  }
}
