/**
 * Futures by root. Each line: root, currency, point value, tick, initial and maintenance margin in the
 * contract's currency (- where none is known), description. Margins are of 2021 and 2022: defaults that an
 * import replaces. Prices of grains and livestock are in dollars, not cents.
 */
import type { CalendarName } from '../calendar.ts'
import type { LastTradingRule } from '../expiration.ts'

type FutureGroup = { exchange: string; calendar: CalendarName; lastTrading: LastTradingRule; roots: string }

export const futureGroups: readonly FutureGroup[] = [
  {
    exchange: 'IFEU',
    calendar: 'CME_GLOBEX',
    lastTrading: 'twoBeforeFourteenth',
    roots: `
      G USD 100 0.25 - - Low Sulfur Gasoil
    `,
  },
  {
    exchange: 'IFEU',
    calendar: 'CME_GLOBEX',
    lastTrading: 'brent',
    roots: `
      B USD 1000 0.01 - - Brent Crude Futures
    `,
  },
  {
    exchange: 'IFUS',
    calendar: 'CME_GLOBEX',
    lastTrading: 'priorMonthEnd',
    roots: `
      SB USD 112000 0.0001 1900 1500 Sugar No. 11 Futures
    `,
  },
  {
    exchange: 'IFUS',
    calendar: 'CME_GLOBEX',
    lastTrading: 'beforeThirdWednesday',
    roots: `
      DX USD 1000 0.005 3700 3000 US Dollar Index Futures
    `,
  },
  {
    exchange: 'IFUS',
    calendar: 'CME_GLOBEX',
    lastTrading: 'eleventhBeforeMonthEnd',
    roots: `
      CC USD 10 1 2100 1650 Cocoa Futures
    `,
  },
  {
    exchange: 'IFUS',
    calendar: 'CME_GLOBEX',
    lastTrading: 'seventeenthLast',
    roots: `
      CT USD 50000 0.0001 2000 1600 Cotton No. 2 Futures
    `,
  },
  {
    exchange: 'IFUS',
    calendar: 'CME_GLOBEX',
    lastTrading: 'eighthBeforeMonthEnd',
    roots: `
      KC USD 37500 0.0005 3600 2900 Coffee C Arabica Futures
    `,
  },
  {
    exchange: 'IFUS',
    calendar: 'CME_GLOBEX',
    lastTrading: 'fourteenthBeforeMonthEnd',
    roots: `
      OJ USD 15000 0.0005 2400 1900 Frozen Concentrated Orange Juice
    `,
  },
  {
    exchange: 'XCBF',
    calendar: 'CFE',
    lastTrading: 'volatility',
    roots: `
      VX USD 1000 0.05 12000 9600 VIX futures
      VXM USD 100 0.01 1200 960 VIX Mini Futures
    `,
  },
  {
    exchange: 'XCBT',
    calendar: 'CBOT_GRAINS',
    lastTrading: 'beforeFifteenth',
    roots: `
      KE USD 5000 0.0025 2695 2450 KC HRW Wheat Futures
      ZC USD 5000 0.0025 1678 1525 Corn Futures
      ZL USD 60000 0.0001 2365 2150 Soybean Oil Futures
      ZM USD 100 0.1 2530 2300 Soybean Meal Futures
      ZO USD 5000 0.0025 2365 2150 Oats Futures
      ZR USD 2000 0.005 - - Rough Rice Futures
      ZS USD 5000 0.0025 3355 3050 Soybean Futures
      ZW USD 5000 0.0025 2365 2150 Chicago SRW Wheat Futures
    `,
  },
  {
    exchange: 'XCBT',
    calendar: 'CBOT_RATES',
    lastTrading: 'monthEnd',
    roots: `
      10Y USD 1000 0.001 264 240 Micro 10-Year Yield Futures
      2YY USD 1000 0.001 209 190 Micro 2-Year Yield Futures
      30Y USD 1000 0.001 264 240 Micro 30-Year Yield Futures
      5YY USD 1000 0.001 264 240 Micro 5-Year Yield Futures
      ZF USD 1000 0.0078125 1018 925 5-Year T-Note Futures
      ZT USD 2000 0.00390625 869 790 2-Year T-Note Futures
    `,
  },
  {
    exchange: 'XCBT',
    calendar: 'CBOT_RATES',
    lastTrading: 'seventhBeforeMonthEnd',
    roots: `
      TN USD 1000 0.015625 2695 2450 Ultra 10-Year U.S. Treasury Note Futures
      UB USD 1000 0.03125 7150 6500 Ultra U.S. Treasury Bond Futures
      ZB USD 1000 0.03125 3850 3500 U.S. Treasury Bond Futures
      ZN USD 1000 0.015625 1650 1500 10-Year T-Note Futures
    `,
  },
  {
    exchange: 'XCBT',
    calendar: 'CME_GLOBEX',
    lastTrading: 'thirdFriday',
    roots: `
      EH USD 29000 0.001 4730 4300 Ethanol Futures
      MYM USD 0.5 1 880 800 Micro E-mini Dow Jones Industrial Average Index Futures
      YM USD 5 1 8800 8000 E-mini Dow ($5) Futures
    `,
  },
  {
    exchange: 'XCBT',
    calendar: 'CME_GLOBEX',
    lastTrading: 'thirdWednesday',
    roots: `
      AW USD 100 0.1 413 375 Bloomberg Commodity Index Futures
    `,
  },
  {
    exchange: 'XCBT',
    calendar: 'CME_GLOBEX',
    lastTrading: 'monthEnd',
    roots: `
      BCF USD 50 0.25 880 800 Black Sea Corn Financially Settled (Platts) Futures
      BWF USD 50 0.25 1045 950 Black Sea Wheat Financially Settled (Platts) Futures
    `,
  },
  {
    exchange: 'XCBT',
    calendar: 'CBOT_RATES',
    lastTrading: 'beforeThirdWednesday',
    roots: `
      F1U USD 1000 0.0078125 1122 1020 5-Year USD MAC Swap Futures
    `,
  },
  {
    exchange: 'XCEC',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'monthEnd',
    roots: `
      AUP USD 55116 0.00001 1760 1600 Aluminum MW U.S. Transaction Premium Platts (25MT) Futures
      EDP USD 25 0.01 1760 1600 Aluminium European Premium Duty-Paid (Metal Bulletin) Futures
    `,
  },
  {
    exchange: 'XCEC',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'thirdLast',
    roots: `
      GC USD 100 0.1 6600 6000 Gold Futures
      HG USD 25000 0.0005 5500 5000 Copper Futures
      MGC USD 10 0.1 660 600 Micro Gold Futures
      MGT USD 10 0.1 660 600 Micro Gold TAS Futures
      SI USD 5000 0.005 10450 9500 Silver Futures
      SIL USD 1000 0.005 2090 1900 Micro Silver Futures
    `,
  },
  {
    exchange: 'XCEC',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'priorThirdLast',
    roots: `
      MHG USD 2500 0.0005 - - Micro Copper Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CBOT_RATES',
    lastTrading: 'beforeThirdWednesday',
    roots: `
      GE USD 2500 0.0025 330 300 Eurodollar Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_FX',
    lastTrading: 'beforeThirdWednesday',
    roots: `
      6A USD 100000 0.00005 1595 1450 Australian Dollar Futures
      6B USD 62500 0.0001 2365 2150 British Pound Futures
      6E USD 125000 0.00005 2420 2200 Euro FX Futures
      6J USD 12500000 0.0000005 2750 2500 Japanese Yen Futures
      6M USD 500000 0.00001 1430 1300 Mexican Peso Futures
      6N USD 100000 0.00005 1540 1400 New Zealand Dollar Futures
      6R USD 2500000 0.000005 2310 2100 Russian Ruble Futures
      6S USD 125000 0.00005 3850 3500 Swiss Franc Futures
      6Z USD 500000 0.000025 1980 1800 South African Rand Futures
      ACD CAD 200000 0.0001 2022 1838 Australian Dollar/Canadian Dollar Futures
      AJY JPY 200000 0.01 3872 3520 Australian Dollar/Japanese Yen Futures
      ANE NZD 200000 0.0001 1861 1691 Australian Dollar/New Zealand Dollar Futures
      CJY JPY 200000 0.01 3485 3168 Canadian Dollar/Japanese Yen Futures
      CNH CNH 100000 0.0001 14300 13000 Standard-Size USD/Offshore RMB (CNH) Futures
      E7 USD 62500 0.0001 1210 1100 E-mini Euro FX Futures
      EAD AUD 125000 0.0001 2324 2112 Euro/Australian Dollar Futures
      ECD CAD 125000 0.0001 2359 2144 Euro/Canadian Dollar Futures
      ESK SEK 125000 0.0005 2462 2238 Euro/Swedish Krona Futures
      J7 USD 6250000 0.000001 1375 1250 E-mini Japanese Yen Futures
      M6A USD 10000 0.0001 160 145 Micro Australian Dollar/U.S. Dollar (AUD/USD) Futures
      M6B USD 6250 0.0001 237 215 Micro British Pound Sterling/U.S. Dollar (GBP/USD) Futures
      M6C CAD 10000 0.0001 198 180 Micro USD/CAD Futures
      M6E USD 12500 0.0001 242 220 Micro Euro/U.S. Dollar (EUR/USD) Futures
      M6J JPY 10000 0.01 - - Micro USD/JPY Futures
      M6S CHF 10000 0.0001 - - Micro USD/CHF Futures
      MIR USD 1000000 0.01 352 320 Micro INR/USD Futures
      MJY USD 1250000 0.000001 275 250 Micro Japanese Yen/U.S. Dollar (JPY/USD) Futures
      MNH USD 10000 0.0001 1210 1100 Micro USD/CNH Futures
      MSF USD 12500 0.0001 385 350 Micro Swiss Franc/U.S. Dollar (CHF/USD) Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_FX',
    lastTrading: 'lastFriday',
    roots: `
      BTC USD 5 5 7471 6791 Bitcoin Futures
      ETH USD 50 0.5 - - Ether Futures
      MBT USD 0.1 5 150 136 Micro Bitcoin Futures
      MET USD 0.1 0.5 117 106 Micro Ether Futures
      MIB USD 0.1 5 - - BTIC on Micro Bitcoin Futures
      MRB USD 0.1 0.5 40 36 BTIC on Micro Ether Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_GLOBEX',
    lastTrading: 'thirdFriday',
    roots: `
      BIO USD 25 0.5 8800 8000 E-mini Nasdaq-100 Biotechnology Index Futures
      E3G GBP 500 0.05 - - E-mini FTSE 100 GBP Futures
      EI USD 100 0.1 3960 3600 E-mini FTSE Emerging Index Futures
      EMD USD 100 0.1 13750 12500 E-mini S&P MidCap 400 Futures
      ES USD 50 0.25 11880 10800 E-mini S&P 500 Futures
      ESG USD 500 0.02 - - E-mini S&P500 ESG Futures
      FT1 GBP 10 0.5 - - E-mini FTSE 100 GBP Futures
      FT5 USD 2 2.5 - - E-mini FTSE China Futures
      FTU USD 50 0.1 - - E-mini FTSE 100 USD Futures
      M2K USD 5 0.1 605 550 Micro E-mini Russell 2000 Index Futures
      MES USD 5 0.25 1188 1080 Micro E-mini Standard and Poor's 500 Stock Price Index Futures
      MNQ USD 2 0.25 1650 1500 Micro E-mini Nasdaq-100 Index Futures
      NQ USD 20 0.25 16500 15000 E-mini Nasdaq-100 Futures
      RS1 USD 50 0.1 - - E-mini Russell 1000 future
      RTY USD 50 0.1 6050 5500 E-mini Russell 2000 Index Futures
      RX USD 100 0.1 - - DJRE Futures
      SDA USD 250 0.05 - - SP500 S&P 500 Annual Dividend Index future
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_LIVESTOCK',
    lastTrading: 'beforeSixteenth',
    roots: `
      LBR USD 27.5 0.5 - - Lumber Futures
      LBS USD 110 0.1 9075 8250 Random Length Lumber Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_LIVESTOCK',
    lastTrading: 'feederCattle',
    roots: `
      GF USD 50000 0.00025 2723 2475 Feeder Cattle Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_LIVESTOCK',
    lastTrading: 'monthEnd',
    roots: `
      LE USD 40000 0.00025 1540 1400 Live Cattle Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_LIVESTOCK',
    lastTrading: 'tenth',
    roots: `
      HE USD 40000 0.00025 2090 1900 Lean Hog Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CBOT_RATES',
    lastTrading: 'endOfQuarter',
    roots: `
      SR3 USD 2500 0.0025 - - Three-Month SOFR Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_FX',
    lastTrading: 'dayBeforeThirdWednesday',
    roots: `
      6C USD 100000 0.00005 1485 1350 Canadian Dollar Futures
      MCD USD 10000 0.0001 149 135 Micro Canadian Dollar/U.S.Dollar(CAD/USD) Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_FX',
    lastTrading: 'priorMonthEnd',
    roots: `
      6L USD 100000 0.00005 1210 1100 Brazilian Real Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_GLOBEX',
    lastTrading: 'beforeSecondFriday',
    roots: `
      ENY JPY 100 10 - - E-mini Nikkei YEN Futures
      NIY JPY 500 5 - - Nikkei/YEN Futures
      NKD USD 5 5 7150 6500 Nikkei/USD Futures
      TPD USD 50 0.5 - - TOPIX USD Futures
      TPY JPY 5000 0.5 - - TOPIX JPY Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_GLOBEX',
    lastTrading: 'eleventh',
    roots: `
      GD USD 250 0.05 8965 8150 S&P-GSCI Commodity Index Futures
    `,
  },
  {
    exchange: 'XCME',
    calendar: 'CME_GLOBEX',
    lastTrading: 'middleWednesday',
    roots: `
      IBV USD 1 5 18040 16400 USD-Denominated Ibovespa Index Futures
    `,
  },
  {
    exchange: 'XEUR',
    calendar: 'EUREX',
    lastTrading: 'thirdFriday',
    roots: `
      FDAX EUR 25 1 48000 42000 DAX Futures
      FDIV EUR 200 0.05 9000 7800 DivDAX Futures
      FDXM EUR 5 1 9600 8300 Mini-DAX Futures
      FDXS EUR 1 1 1900 1700 Micro-DAX Futures
      FESX EUR 10 1 3000 3000 EURO STOXX 50 Index Futures
      FSDX EUR 25 1 48000 42000 DAX 50 ESG Futures
      FSMX EUR 1 5 2000 1700 Mini-MDAX Futures
      FTDX EUR 10 0.5 9300 8100 TecDAX Futures
    `,
  },
  {
    exchange: 'XNYM',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'crude',
    roots: `
      CL USD 1000 0.01 7480 6800 Crude Oil Futures
      HCL USD 1000 0.01 9900 9000 WTI Houston Crude Oil Futures
    `,
  },
  {
    exchange: 'XNYM',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'monthEnd',
    roots: `
      1S USD 42000 0.00001 3362 3056 Propane Non-LDH Mont Belvieu (OPIS) BALMO Futures
      22 USD 1000 0.001 42708 38825 Argus Propane Far East Index BALMO Futures
      A0D USD 100 0.001 31900 29000 Mini European 3.5% Fuel Oil Barges FOB Rdam (Platts) Futures
      A0F USD 100 0.001 2860 2600 Mini Singapore Fuel Oil 180 cst (Platts) Futures
      A1L USD 42000 0.0001 12518 11380 Gulf Coast ULSD (Platts) Up-Down BALMO Futures
      A1M USD 42000 0.0001 961 873 Gulf Coast Jet (Platts) Up-Down BALMO Futures
      A1R USD 42000 0.00001 5280 4800 Propane Non-LDH Mont Belvieu (OPIS) Futures
      A32 USD 1000 0.01 36823 33475 European Propane CIF ARA (Argus) BALMO Futures
      A3G USD 1000 0.001 53350 48500 Premium Unleaded Gasoline 10 ppm FOB MED (Platts) Futures
      A7E USD 1000 0.001 55000 50000 Argus Propane Far East Index Futures
      A7I USD 1000 0.001 4039 3671 Gasoline Euro-bob Oxy NWE Barges (Argus) Crack Spread BALMO Futures
      A7Q USD 42000 0.00001 6050 5500 Mont Belvieu Natural Gasoline (OPIS) Futures
      A8J USD 42000 0.00001 3294 2994 Mont Belvieu Normal Butane (OPIS) BALMO Futures
      A8K USD 42000 0.00001 5280 4800 Conway Propane (OPIS) Futures
      A8O USD 42000 0.00001 3362 3056 Mont Belvieu LDH Propane (OPIS) BALMO Futures
      A91 USD 1000 0.001 33655 30595 Argus Propane Far East Index vs. European Propane CIF ARA (Argus) Futures
      A9N USD 1000 0.001 58300 53000 Argus Propane (Saudi Aramco) Futures
      AA6 USD 42000 0.0001 1205 1095 Group Three ULSD (Platts) vs. NY Harbor ULSD Futures
      AA8 USD 42000 0.0001 1315 1195 Group Three Sub-octane Gasoline (Platts) vs. RBOB Futures
      ABS USD 1000 0.001 38511 35010 Singapore Fuel Oil 180 cst (Platts) BALMO Futures
      ABT USD 1000 0.001 22519 20471 Singapore Fuel Oil 380 cst (Platts) BALMO Futures
      AC0 USD 42000 0.00001 1650 1500 Mont Belvieu Ethane (OPIS) Futures
      AD0 USD 42000 0.00001 5280 4800 Mont Belvieu Normal Butane (OPIS) Futures
      ADB USD 1000 0.001 440 400 Brent Crude Oil vs. Dubai Crude Oil (Platts) Futures
      AGA USD 1000 0.001 550 500 Singapore Gasoil (Platts) vs. Low Sulphur Gasoil Futures
      AJL USD 42000 0.0001 5280 4800 Los Angeles CARBOB Gasoline (OPIS) vs. RBOB Gasoline Futures
      AJS USD 42000 0.0001 6302 5729 Los Angeles Jet (OPIS) vs. NY Harbor ULSD Futures
      AKL USD 42000 0.0001 3960 3600 Los Angeles CARB Diesel (OPIS) vs. NY Harbor ULSD Futures
      AKZ USD 1000 0.001 27443 24948 European Naphtha (Platts) BALMO Futures
      APS USD 1000 0.01 52800 48000 European Propane CIF ARA (Argus) Futures
      AR0 USD 42000 0.00001 3832 3483 Mont Belvieu Natural Gasoline (OPIS) BALMO Futures
      ARE USD 1000 0.01 2638 2398 RBOB Gasoline Crack Spread Futures
      AVZ USD 1000 0.001 2924 2658 Gulf Coast HSFO (Platts) BALMO Futures
      AYX USD 1000 0.01 880 800 Mars (Argus) vs. WTI Financial Futures
      AZ1 EUR 100 0.001 2554 2321 Ethanol T2 FOB Rdam Including Duty (Platts) Futures
      B0 USD 42000 0.00001 5280 4800 Mont Belvieu LDH Propane (OPIS) Futures
      B7H USD 1000 0.001 51700 47000 Gasoline Euro-bob Oxy NWE Barges (Argus) Futures
      BK USD 1000 0.01 1105 1004 WTI-Brent Financial Futures
      BOO USD 6350 0.001 2049 1862 3.5% Fuel Oil Barges FOB Rdam (Platts) Crack Spread (1000mt) Futures
      BR7 USD 1000 0.001 33349 30317 Gasoline Euro-bob Oxy NWE Barges (Argus) BALMO Futures
      CRB USD 42000 0.0001 890 809 Gulf Coast CBOB Gasoline A2 (Platts) vs. RBOB Gasoline Futures
      CSX USD 1000 0.01 7337 6670 WTI Financial Futures
      CU USD 42000 0.0001 8525 7750 Chicago Ethanol (Platts) Futures
      D1N USD 1000 0.001 3025 2750 Singapore Mogas 92 Unleaded (Platts) Brent Crack Spread Futures
      DCB USD 1000 0.001 5885 5350 Dubai Crude Oil (Platts) Financial Futures
      E6 USD 1000 0.001 33002 30001 Japan C&F Naphtha (Platts) BALMO Futures
      EN USD 1000 0.001 3434 3121 European Naphtha (Platts) Crack Spread Futures
      EPN USD 1000 0.001 35409 32190 European Propane CIF ARA (Argus) vs. Naphtha Cargoes CIF NWE (Platts) Futures
      EVC USD 1000 0.001 16623 15111 Singapore Fuel Oil 380 cst (Platts) vs. European 3.5% Fuel Oil Barges FOB Rdam (Platts) Futures
      EWG USD 1000 0.001 3010 2736 East-West Gasoline Spread (Platts-Argus) Futures
      EWN USD 1000 0.001 81180 73800 East-West Naphtha: Japan C&F vs. Cargoes CIF NWE Spread (Platts) Futures
      EXR USD 350000 0.0001 29966 27241 RBOB Gasoline vs. Euro-bob Oxy NWE Barges (Argus) (350000 gallons) Futures
      FO USD 1000 0.001 2049 1862 3.5% Fuel Oil Barges FOB Rdam (Platts) Crack Spread Futures
      FRC USD 1000 0.0001 7700 7000 Freight Route TC14 (Baltic) Futures
      FSS USD 1000 0.001 9020 8200 1% Fuel Oil Cargoes FOB NWE (Platts) vs. 3.5% Fuel Oil Barges FOB Rdam (Platts) Futures
      GCU USD 1000 0.001 2560 2327 Gulf Coast HSFO (Platts) vs. European 3.5% Fuel Oil Barges FOB Rdam (Platts) Futures
      M1B USD 10 0.001 363 330 Micro Gasoil 0.1% Barges FOB ARA (Platts) Futures
      M35 USD 10 0.001 330 300 Micro European 3.5% Fuel Oil Cargoes FOB Med (Platts) Futures
      M5F USD 10 0.01 50 45 Micro Coal (API 5) fob Newcastle (Argus/McCloskey) Futures
      MAF USD 10 0.001 31900 29000 Micro Singapore Fuel Oil 380CST (Platts) Futures
      MEF USD 10 0.001 31900 29000 Micro European 3.5% Fuel Oil Barges FOB Rdam (Platts) Futures
      R5O USD 10 0.001 396 360 Micro European FOB Rdam Marine Fuel 0.5% Barges (Platts) Futures
      S5O USD 10 0.001 385 350 Micro Singapore FOB Marine Fuel 0.5% (Platts) Futures
    `,
  },
  {
    exchange: 'XNYM',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'priorThirdLast',
    roots: `
      HH USD 10000 0.001 8250 7500 Natural Gas (Henry Hub) Last-day Financial Futures
      NG USD 10000 0.001 8250 7500 Henry Hub Natural Gas Futures
    `,
  },
  {
    exchange: 'XNYM',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'priorMonthEnd',
    roots: `
      HO USD 42000 0.0001 7700 7000 NY Harbor ULSD Futures
      RB USD 42000 0.0001 7700 7000 RBOB Gasoline Futures
      YO USD 112000 0.0001 990 900 No. 11 Sugar Futures
    `,
  },
  {
    exchange: 'XNYM',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'brent',
    roots: `
      BZ USD 1000 0.01 6600 6000 Brent Last Day Financial Futures
    `,
  },
  {
    exchange: 'XNYM',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'thirdLast',
    roots: `
      PA USD 100 0.5 22550 20500 Palladium Futures
      PAM USD 10 0.5 2255 2050 Micro Palladium Futures
      PL USD 50 0.1 3575 3250 Platinum Futures
    `,
  },
  {
    exchange: 'XNYM',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'beforeCrude',
    roots: `
      MCL USD 100 0.01 748 680 Micro WTI Crude Oil Futures
      QM USD 500 0.025 - - E-mini Crude Oil Futures
    `,
  },
  {
    exchange: 'XNYM',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'priorFourthLast',
    roots: `
      HP USD 10000 0.001 8250 7500 Natural Gas (Henry Hub) Penultimate Financial Futures
      MNG USD 1000 0.001 - - Micro Henry Hub Natural Gas Futures
      QG USD 2500 0.005 - - E-mini Natural Gas Futures
    `,
  },
  {
    exchange: 'XNYM',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'tradeMonth',
    roots: `
      AE5 USD 1000 0.01 550 500 Argus LLS vs. WTI (Argus) Trade Month Futures
      AYV USD 1000 0.01 902 820 Mars (Argus) vs. WTI Trade Month Futures
      HTT USD 1000 0.01 550 500 WTI Houston (Argus) vs. WTI Trade Month Futures
    `,
  },
  {
    exchange: 'XNYM',
    calendar: 'CME_ENERGY_METALS',
    lastTrading: 'beforeLastWednesday',
    roots: `
      HRC USD 20 1 550 500 U.S. Midwest Domestic Hot-Rolled Coil Steel (CRU) Index Futures
    `,
  },
]
