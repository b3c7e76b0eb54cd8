import Foundation

/// Messages that apps send, byte for byte as the apps print them, with few samples.
enum SenderBodies {
  private static let sample = #"""
    {"endDate":"2024-06-15T10:30:00Z","id":"B3F1C2A4-1111-4222-8333-000000000001","sourceBundleIdentifier":"com.apple.health.watch","sourceName":"Watch","startDate":"2024-06-15T10:30:00Z","type":"heartRate","unit":"count\/min","value":62}
    """#

  /// A message of HealthAppTransfer's REST automation, with JSON v1.
  static let transfer1 = "[\(sample)]"

  /// A message of HealthAppTransfer's REST automation, with JSON v2.
  static let transfer2 = #"""
    {"data":{"heartRate":[\#(sample)],"stepCount":[{"endDate":"2024-06-15T10:40:00Z","id":"B3F1C2A4-1111-4222-8333-000000000002","sourceName":"iPhone","startDate":"2024-06-15T10:30:00Z","type":"stepCount","unit":"count","value":120}]},"metadata":{"exportDate":"2024-06-15T11:00:00Z","formatVersion":"2.0","sampleCount":2,"types":["heartRate","stepCount"]}}
    """#

  /// A message of HealthAppTransfer's REST automation, with CSV.
  static let transferTable = """
    id,type,startDate,endDate,sourceName,sourceBundleIdentifier,value,unit,categoryValue,workoutActivityType,workoutDuration,workoutTotalEnergyBurned,workoutTotalDistance,correlationValues,characteristicValue,metadata
    B3F1C2A4-1111-4222-8333-000000000003,bodyMass,2024-06-15T07:00:00.000Z,2024-06-15T07:00:00.000Z,Scale,,70.5,kg,,,,,,,,

    """

  /// Returns a message of Health Auto Export's REST automation, aggregated by day.
  static func autoExport(steps: Int = 8432, day: String = "2024-06-15") -> String {
    """
    {
      "data" : {
        "metrics" : [
          {
            "name" : "step_count",
            "units" : "count",
            "data" : [
              { "qty" : \(steps), "date" : "\(day) 00:00:00 +0200", "source" : "Watch|iPhone" }
            ]
          },
          {
            "name" : "heart_rate",
            "units" : "count/min",
            "data" : [
              { "Min" : 48, "Avg" : 71.5, "Max" : 141, "date" : "\(day) 00:00:00 +0200", "source" : "Watch" }
            ]
          }
        ]
      }
    }
    """
  }

  /// A message of HealthPush's webhook.
  static let healthPush = #"""
    {"device_name":"HealthPush","metrics":[{"end_date":"2026-04-10T00:00:00.000Z","id":"7E244E9A-6F83-5EE6-81E1-DE1AB2EECA0A","start_date":"2026-04-09T00:00:00.000Z","type":"steps","unit":"steps","value":8432},{"end_date":"2026-04-09T12:01:00.000Z","id":"A1B2C3D4-E5F6-4890-ABCD-EF1234567890","start_date":"2026-04-09T12:00:00.000Z","type":"heart_rate","unit":"bpm","value":72}],"timestamp":"2026-04-09T12:00:00.000Z"}
    """#

  /// The message that HealthPush's test button sends.
  static let healthPushTest = #"{"device_name":"HealthPush Test","metrics":[]}"#

  /// A daily summary, as P247 sends it.
  static let dailySummary = #"""
    {"data":[{"date":"2026-03-28","timezone":"Europe/Berlin","device_sync_timestamp":"2026-03-28T21:15:00+01:00","metrics":{"step_count":8432,"active_calories":512,"hrv":48,"resting_hr":52,"protein_g":120},"sleep":{"total_hours":6.7,"core_hours":3.9,"deep_hours":1.06,"rem_hours":1.4,"awake_hours":0.63,"source":"Apple Watch"},"workouts":[{"type":"FunctionalStrengthTraining","start":"2026-03-28T07:00:00+01:00","duration_seconds":2700,"energy_kcal":310,"source":"Apple Watch"}]}]}
    """#
}
