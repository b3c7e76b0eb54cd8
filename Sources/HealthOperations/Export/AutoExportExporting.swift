import HealthFormats
import HealthModel

extension ExportFormat {
  /// The JSON of the app Health Auto Export, version 2, with an entry for each sample.
  public static let healthAutoExport = ExportFormat(
    "health-auto-export", suffix: "json", lack: "Health Auto Export has no place", takes: .offset
  ) { exporting, content in
    try await exporting.writeAutoExport(HealthAutoExportWriter(offset: content.options.offset))
  }
}

extension Exporting {
  /// Writes the samples by type, and workouts last, with the points of their routes.
  fileprivate func writeAutoExport(_ writer: HealthAutoExportWriter) async throws -> ExportSummary {
    try await writing {
      var writer = writer
      var bytes: [UInt8] = []
      writer.begin(into: &bytes)
      var routes = try await reader.routes()
      var written = 0
      var points = 0
      // Types are sorted by identifier, so workouts come after everything that the file has before them.
      var summary = try await appendSamples(to: &bytes) { sample, bytes in
        if case .workoutRoute = sample.payload { return false }
        guard case .workout = sample.payload else {
          return writer.append(sample, members: try await reader.members(of: sample), to: &bytes)
        }
        guard writer.beginWorkout(sample, to: &bytes) else { return false }
        for reference in routes.removeValue(forKey: sample.reference) ?? [] {
          guard let route = try await reader.store.samples.sample(reference),
            case .workoutRoute(let content) = route.payload, writer.append(route: route, to: &bytes)
          else { continue }
          written += 1
          points += content.points.count
          try await flush(&bytes)
        }
        writer.endWorkout(to: &bytes)
        return true
      }
      writer.end(into: &bytes)
      try await flush(&bytes)
      summary.count(routes: written, points: points)
      return summary
    }
  }
}

extension ExportSummary {
  /// Counts routes that were written with their workouts, and had been counted as omitted.
  mutating func count(routes: Int, points: Int) {
    (self.routes, self.points) = (routes, points)
    written += routes
    if let left = omitted[.workoutRoute] { omitted[.workoutRoute] = left > routes ? left - routes : nil }
  }
}
